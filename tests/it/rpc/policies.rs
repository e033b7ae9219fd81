//! Policies: presets, changes to them, and their immediate effects.

use std::time::Duration;

use utterd::{
    config::{Preset, Settings},
    proto::{
        CreateConversationRequest, EndConversationRequest, GetConversationRequest, MemorizeRequest,
        NewUtterance, Policy, PolicyPreset, UpdateConversationRequest,
    },
};

use crate::support::session::{
    Reply, Session, assistant, calls, mask, memorize, ranges, result, sequences, sequences_of, system, user,
};

async fn policy_of(session: &Session) -> Policy {
    let response = session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
    response.conversation.unwrap().policy.unwrap()
}

fn of_preset(preset: PolicyPreset) -> Policy {
    Policy { preset: preset.into(), ..Default::default() }
}

/// max and keep of utterances, tokens and turns.
fn marks(policy: &Policy) -> [(Option<i32>, Option<i32>); 3] {
    [
        (policy.max_utterances, policy.keep_utterances),
        (policy.max_tokens, policy.keep_tokens),
        (policy.max_turns, policy.keep_turns),
    ]
}

const ROLLING: [(Option<i32>, Option<i32>); 3] =
    [(Some(20), Some(16)), (Some(8_000), Some(6_400)), (None, None)];
const TURNS: [(Option<i32>, Option<i32>); 3] =
    [(None, None), (Some(8_000), Some(6_400)), (Some(10), Some(3))];
const SESSION: [(Option<i32>, Option<i32>); 3] = [(None, None); 3];

/// However the last one ended, and by default the server's.
#[tokio::test]
async fn the_next_conversation_takes_the_policy_of_the_last_one() {
    let session = Session::new().await;
    session.say(vec![user("first")]).await;
    session.update_policy(Policy { max_tokens: Some(300), ..Default::default() }).await;
    for idle in [false, true, false] {
        match idle {
            true => session.clock.advance(Duration::from_secs(3_600)),
            false => {
                session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
            }
        }
        assert_eq!(session.capacity().await.max_tokens, Some(300), "before it starts");
        assert!(session.say(vec![user("next")]).await.started_conversation);
        assert_eq!(policy_of(&session).await.max_tokens, Some(300), "idle: {idle}");
    }
    let other = MemorizeRequest { recipient_id: "other".into(), ..memorize(vec![user("hello")]) };
    let other = session.memory().memorize(other).await.reply();
    assert_eq!(other.capacity.unwrap().max_tokens, Some(8_000));
}

#[tokio::test]
async fn presets_set_every_limit() {
    for (preset, expected) in
        [(PolicyPreset::Rolling, ROLLING), (PolicyPreset::Turns, TURNS), (PolicyPreset::Session, SESSION)]
    {
        let session = Session::new().await;
        session.say(vec![user("hello")]).await;
        assert_eq!(marks(&policy_of(&session).await), ROLLING, "the default");
        let response = session.update_policy(of_preset(preset)).await;
        let policy = response.conversation.unwrap().policy.unwrap();
        assert_eq!(marks(&policy), expected);
        assert_eq!((policy.summary_token_limit, policy.summarization_enabled), (Some(1_000), Some(true)));
        assert_eq!((policy.archive_limit, policy.expire_after), (Some(10_000), None));
        let and_more = Policy { max_turns: Some(4), ..of_preset(preset) };
        session.update_policy(and_more).await;
        assert_eq!(marks(&policy_of(&session).await)[2], (Some(4), Some(3)), "fields apply to the preset");
    }
}

#[tokio::test]
async fn the_server_has_a_default() {
    for (preset, expected) in [(Preset::Rolling, ROLLING), (Preset::Turns, TURNS), (Preset::Session, SESSION)]
    {
        let session = Session::with(&Settings::of(preset)).await;
        session.say(vec![user("hello")]).await;
        assert_eq!(marks(&policy_of(&session).await), expected);
    }
}

/// An absent field leaves its value unchanged; an explicit 0 means unlimited.
#[tokio::test]
async fn absent_is_not_zero() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let before = policy_of(&session).await;
    session.update_policy(Policy::default()).await;
    assert_eq!(policy_of(&session).await, before);
    session.update_policy(Policy { max_utterances: Some(0), ..Default::default() }).await;
    assert_eq!(marks(&policy_of(&session).await), [(None, None), ROLLING[1], ROLLING[2]]);
    session
        .update_policy(Policy { max_tokens: Some(0), summary_token_limit: Some(0), ..Default::default() })
        .await;
    let policy = policy_of(&session).await;
    assert_eq!((marks(&policy), policy.summary_token_limit), (SESSION, None));
    let capacity = session.capacity().await;
    assert_eq!((capacity.max_utterances, capacity.available_tokens), (None, None));
    session
        .update_policy(Policy { max_utterances: Some(5), keep_utterances: Some(2), ..Default::default() })
        .await;
    session.update_policy(Policy { max_utterances: Some(4), ..Default::default() }).await;
    assert_eq!(marks(&policy_of(&session).await)[0], (Some(4), Some(2)), "a given keep stays");
    session.update_policy(Policy { max_utterances: Some(1), ..Default::default() }).await;
    assert_eq!(marks(&policy_of(&session).await)[0], (Some(1), Some(1)), "unless it no longer fits");
}

/// A smaller limit evicts immediately, and the response lists what left.
#[tokio::test]
async fn a_smaller_limit_evicts() {
    let session = Session::new().await;
    session.say_many(10).await;
    let response = session.update_policy(Policy { max_utterances: Some(5), ..Default::default() }).await;
    assert_eq!(sequences(&response.evicted), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ranges(&response.summary.unwrap().written[0].covers), [(1, 6)]);
    let capacity = response.capacity.unwrap();
    assert_eq!((capacity.utterance_count, capacity.available_utterances), (Some(4), Some(1)));
    assert_eq!((capacity.archived_utterance_count, capacity.revision), (Some(6), 11));
    let larger = session.update_policy(Policy { max_utterances: Some(50), ..Default::default() }).await;
    assert!(larger.evicted.is_empty() && larger.summary.is_none());
    assert_eq!(sequences_of(&session.window().await), [7, 8, 9, 10], "what has left does not come back");
}

/// Each measure goes down to its keep, the oldest units first.
#[tokio::test]
async fn every_measure_has_its_marks() {
    let tokens = Policy { max_tokens: Some(60), keep_tokens: Some(12), ..of_preset(PolicyPreset::Session) };
    let session = Session::new().await;
    session.create_with(tokens).await;
    for _ in 0..10 {
        let response = session.say(vec![user("one two")]).await;
        assert_eq!((response.memorized[0].token_count(), response.evicted.len()), (6, 0));
    }
    let response = session.say(vec![user("one")]).await;
    assert_eq!(response.memorized[0].token_count, Some(5));
    assert_eq!(sequences(&response.evicted), (1..=9).collect::<Vec<_>>());
    assert_eq!(response.capacity.unwrap().token_count, Some(11));

    let turns = Policy { max_turns: Some(3), keep_turns: Some(1), ..of_preset(PolicyPreset::Session) };
    let session = Session::new().await;
    session.create_with(turns).await;
    let turn = || vec![user("a"), assistant("b")];
    for _ in 0..3 {
        assert!(session.say(turn()).await.evicted.is_empty());
    }
    let response = session.say(turn()).await;
    assert_eq!(sequences(&response.evicted), [1, 2, 3, 4, 5, 6]);
    assert_eq!(response.capacity.unwrap().turn_count, Some(1));
}

/// Instructions at the head stay and count; so do the newest unit and an open exchange.
#[tokio::test]
async fn what_may_not_leave_stays() {
    let session = Session::new().await;
    session
        .create_with(Policy { max_utterances: Some(3), keep_utterances: Some(1), ..Default::default() })
        .await;
    session.say(vec![system("Be brief."), system("Be kind."), user("a")]).await;
    let response = session.say(vec![user("b")]).await;
    assert_eq!(sequences(&response.evicted), [3]);
    assert_eq!(sequences_of(&session.window().await), [1, 2, 4]);
    session.say(vec![calls(&["a", "b"])]).await;
    let response = session.say(vec![result("a", "1")]).await;
    assert_eq!(sequences_of(&session.window().await), [1, 2, 5, 6], "{response:?}");
    assert_eq!(session.capacity().await.over_limit, Some(true));
    session.say(vec![result("b", "2"), system("Be quick.")]).await;
    assert_eq!(sequences_of(&session.window().await), [1, 2, 8], "a later system utterance is no head");
    let summary = session.summary().await;
    assert!(!summary.text.contains("Be kind"), "{}", summary.text);
}

/// With KEEP, an oversize utterance leaves with the next eviction.
#[tokio::test]
async fn an_oversize_utterance_is_kept_for_a_while() {
    let session = Session::new().await;
    session.create_with(Policy { max_tokens: Some(20), ..Default::default() }).await;
    let response = session.say(vec![user("small"), user(&"one two three four ".repeat(10))]).await;
    assert_eq!(sequences(&response.evicted), [1]);
    assert_eq!(response.capacity.unwrap().over_limit, Some(true));
    let response = session.say(vec![user("small")]).await;
    assert_eq!(sequences(&response.evicted), [2]);
    assert_eq!(response.capacity.unwrap().over_limit, Some(false));
}

#[tokio::test]
async fn without_summaries_it_is_archived_only() {
    let session = Session::new().await;
    session.create_with(Policy { summarization_enabled: Some(false), ..Default::default() }).await;
    session.say_many(20).await;
    let response = session.say(vec![user("the 21st")]).await;
    assert_eq!((response.evicted.len(), response.summary), (5, None));
    let capacity = session.capacity().await;
    assert_eq!(
        (capacity.archived_utterance_count, capacity.summary.unwrap().segment_count),
        (Some(5), Some(0))
    );
    session.update_policy(Policy { summarization_enabled: Some(true), ..Default::default() }).await;
    session.say_many(5).await;
    let covers: Vec<_> =
        session.summary().await.segments.iter().flat_map(|one| ranges(&one.covers)).collect();
    assert_eq!(covers, [(6, 10)], "what left before is not covered");
}

/// A limit of the summary applies immediately and permanently.
#[tokio::test]
async fn the_summary_stays_within_its_limit() {
    let session = Session::new().await;
    let fact =
        |number: usize| user(&format!("Invoice {number} of {}.50 EUR is due on 12 May 2026.", number * 7));
    for number in 0..60 {
        session.say(vec![fact(number)]).await;
    }
    let before = session.summary().await;
    assert!(before.token_count.unwrap() > 60);
    let response =
        session.update_policy(Policy { summary_token_limit: Some(60), ..Default::default() }).await;
    let update = response.summary.unwrap();
    assert!(update.token_count.unwrap() <= 60 && !update.replaced_segment_numbers.is_empty());
    let covered = session.capacity().await.summary.unwrap().covered_utterance_count;
    assert_eq!(covered, session.capacity().await.archived_utterance_count, "it still covers all that left");
    for number in 60..100 {
        session.say(vec![fact(number)]).await;
        assert!(session.summary().await.token_count.unwrap() <= 60);
    }
}

/// Title and labels change as the mask says, and nothing else does.
#[tokio::test]
async fn title_and_labels() {
    let session = Session::new().await;
    let labels = |value: &str| [("topic".to_owned(), value.to_owned())].into();
    let create = CreateConversationRequest {
        title: "A trip".to_owned(),
        labels: labels("travel"),
        ..Default::default()
    };
    session.conversations().create_conversation(create).await.reply();
    let update = |paths: &[&str]| UpdateConversationRequest {
        title: "A walk".to_owned(),
        labels: labels("sports"),
        policy: Some(Policy { max_turns: Some(3), ..Default::default() }),
        update_mask: mask(paths),
        ..Default::default()
    };
    let titled = session.conversations().update_conversation(update(&["title"])).await.reply();
    let conversation = titled.conversation.unwrap();
    assert_eq!((conversation.title.as_str(), &conversation.labels), ("A walk", &labels("travel")));
    assert_eq!((conversation.policy.unwrap().max_turns, conversation.revision), (None, 2));
    let labelled = session.conversations().update_conversation(update(&["labels"])).await.reply();
    assert_eq!(labelled.conversation.unwrap().labels, labels("sports"));
    let bare = UpdateConversationRequest { update_mask: mask(&["title", "labels"]), ..Default::default() };
    let conversation = session.conversations().update_conversation(bare).await.reply().conversation.unwrap();
    assert!(conversation.title.is_empty() && conversation.labels.is_empty());
}

/// A turn given by the caller counts as one turn, however many utterances it has.
#[tokio::test]
async fn given_turns_count() {
    let session = Session::new().await;
    session.create_with(Policy { max_turns: Some(2), ..of_preset(PolicyPreset::Session) }).await;
    let turn = |number, text: &str| NewUtterance { turn_number: Some(number), ..user(text) };
    let response = session.say(vec![turn(5, "a"), turn(5, "b"), turn(9, "c")]).await;
    assert_eq!((response.evicted.len(), response.capacity.unwrap().turn_count), (0, Some(2)));
    let response = session.say(vec![turn(10, "d")]).await;
    assert_eq!(
        (sequences(&response.evicted), response.capacity.unwrap().turn_count),
        (vec![1, 2, 3], Some(1))
    );
}
