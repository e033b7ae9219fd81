//! Memorize: addressing, the rolling window, and the response.

use tonic::Code;
use utterd::proto::{
    CompactConversationRequest, ConversationStatus, DeleteConversationRequest, EndConversationRequest,
    GetCapacityInfoRequest, GetConversationRequest, ListConversationsRequest, MemorizeRequest,
    MemorizeStreamRequest, NewUtterance, Policy, UndoCompactionRequest, UtteranceState,
    memorize_stream_response::Result as Outcome,
};

use crate::support::session::{
    Reply, Session, assistant, calls, memorize, ranges, result, sequences, sequences_of, system, user,
};

#[tokio::test]
async fn a_fresh_server_takes_a_bare_utterance() {
    let session = Session::new().await;
    let response = session.say(vec![user("hi")]).await;
    assert!(response.started_conversation && !response.replayed);
    assert_eq!(response.memorized[0].sequence, 1);
    assert_eq!(response.revision, 1);
    let capacity = response.capacity.unwrap();
    assert_eq!(capacity.conversation_id, response.conversation_id);
    assert_eq!(capacity.status, i32::from(ConversationStatus::Active));
    assert_eq!(
        (capacity.utterance_count, capacity.token_count, capacity.turn_count),
        (Some(1), Some(5), Some(1))
    );
    assert_eq!((capacity.max_utterances, capacity.available_utterances), (Some(20), Some(19)));
    assert_eq!((capacity.max_tokens, capacity.available_tokens), (Some(8_000), Some(7_995)));
    assert_eq!((capacity.max_turns, capacity.over_limit), (None, Some(false)));
    assert_eq!((capacity.soft_deleted_count, capacity.archived_utterance_count), (Some(0), Some(0)));
    assert_eq!(capacity.total_token_count, Some(5));
}

/// By conversation id, by recipient, or by neither, and never by mistake.
#[tokio::test]
async fn a_request_addresses_one_conversation() {
    let session = Session::new().await;
    let to = |conversation: &str, recipient: &str| MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user("hello")])
    };
    let default = session.memory().memorize(to("", "")).await.reply();
    let same = session.memory().memorize(to("", "default")).await.reply();
    assert_eq!(
        (same.conversation_id.clone(), same.started_conversation),
        (default.conversation_id.clone(), false)
    );
    let ann = session.memory().memorize(to("", "ann")).await.reply();
    assert_ne!(ann.conversation_id, default.conversation_id);
    let named = session.memory().memorize(to("trip", "ann")).await.reply();
    assert_eq!((named.conversation_id.as_str(), named.started_conversation), ("trip", true));
    let active = session.memory().memorize(to("", "ann")).await.reply();
    assert_eq!(active.conversation_id, ann.conversation_id, "the first one stays the active one");
    let again = session.memory().memorize(to("trip", "")).await.reply();
    assert_eq!((again.revision, again.started_conversation), (2, false));

    let refused = session.memory().memorize(to("trip", "bob")).await.refusal();
    refused.is(Code::FailedPrecondition, "RECIPIENT_MISMATCH").blames("recipient_id").says("leave it out");
    let bob = GetCapacityInfoRequest { recipient_id: "bob".to_owned(), ..Default::default() };
    let bob = session.memory().get_capacity_info(bob).await.reply().capacity.unwrap();
    assert_eq!((bob.conversation_id.as_str(), bob.revision), ("", 0), "bob has none");
}

/// A conversation that starts with a given id, for a recipient, becomes that recipient's active one, but only
/// if there is none and if it is new.
#[tokio::test]
async fn one_that_starts_by_its_id_is_its_recipients() {
    let session = Session::new().await;
    let to = async |conversation: &str, recipient: &str| {
        let request = MemorizeRequest {
            conversation_id: conversation.to_owned(),
            recipient_id: recipient.to_owned(),
            ..memorize(vec![user("hello")])
        };
        session.memory().memorize(request).await.reply().conversation_id
    };
    to("trip", "ann").await;
    to("other", "ann").await;
    assert_eq!(to("", "ann").await, "trip");
    let end = EndConversationRequest { conversation_id: "trip".to_owned(), ..Default::default() };
    session.conversations().end_conversation(end).await.reply();
    to("other", "ann").await;
    let next = to("", "ann").await;
    assert!(next != "other" && next != "trip", "{next} was there already");

    to("nobody's", "").await;
    assert_ne!(to("", "").await, "nobody's", "it was started for no recipient");
    let delete = DeleteConversationRequest { conversation_id: next, ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    let delete = DeleteConversationRequest { conversation_id: "other".to_owned(), ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    to("other", "ann").await;
    assert_eq!(to("", "ann").await, "other", "it was started anew");
}

/// Seed 000: adding a message returns its conversation, here when it is asked for.
#[tokio::test]
async fn the_conversation_is_returned_when_it_is_asked_for() {
    let session = Session::new().await;
    assert_eq!(session.say(vec![user("hello")]).await.conversation, None);
    let asking = MemorizeRequest {
        return_conversation: true,
        request_id: "r".to_owned(),
        ..memorize(vec![user("hello again")])
    };
    let said = session.memory().memorize(asking.clone()).await.reply();
    let returned = said.conversation.expect("it was asked for");
    let get = || GetConversationRequest::default();
    let got = session.conversations().get_conversation(get()).await.reply().conversation;
    assert_eq!(Some(&returned), got.as_ref());
    assert_eq!((returned.revision, returned.utterance_count(), returned.active), (2, 2, true));

    let messages = ["s1", "s2"].map(|id| MemorizeStreamRequest {
        memorize: Some(MemorizeRequest { request_id: id.to_owned(), ..asking.clone() }),
        ..Default::default()
    });
    let mut responses = session.memory().memorize_stream(futures::stream::iter(messages)).await.reply();
    for revision in [3, 4] {
        let response = responses.message().await.expect("a response").and_then(|response| response.result);
        let Some(Outcome::Memorized(said)) = response else { panic!("{response:?}") };
        assert_eq!(said.conversation.expect("it was asked for").revision, revision);
    }
    let again = session.memory().memorize(asking.clone()).await.reply();
    assert!(again.replayed);
    assert_eq!(again.conversation.expect("it is there").revision, 4, "as it is now");
    let delete = DeleteConversationRequest { conversation_id: said.conversation_id, ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    assert_eq!(session.memory().memorize(asking).await.reply().conversation, None, "it is gone");
}

/// Whatever else the response has, it has no capacity and no summary, also in a replay.
#[tokio::test]
async fn a_lean_response_has_references_and_the_revision() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(2), ..Default::default() }).await;
    session.say_many(2).await;
    let lean = MemorizeRequest { lean: true, request_id: "r".to_owned(), ..memorize(vec![user("one more")]) };
    for replayed in [false, true] {
        let said = session.memory().memorize(lean.clone()).await.reply();
        assert_eq!((said.capacity, said.summary, said.replayed), (None, None, replayed));
        assert_eq!((said.memorized.len(), said.evicted.is_empty()), (1, false));
        assert!(said.revision > 0 && !said.conversation_id.is_empty());
    }
    let full = memorize(vec![user("another"), user("and another")]);
    let full = session.memory().memorize(full).await.reply();
    assert!(full.capacity.is_some() && full.summary.is_some(), "{full:?}");
}

/// Seed 004 asks a conversation whether it is compacted: whether a summary is in the place of a part of it.
#[tokio::test]
async fn a_conversation_says_whether_something_has_left_its_window() {
    let session = Session::new().await;
    let is_compacted = async || {
        let got = session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
        let listed =
            session.conversations().list_conversations(ListConversationsRequest::default()).await.reply();
        let got = got.conversation.expect("a conversation").is_compacted;
        assert_eq!(listed.conversations[0].is_compacted, got, "a list says the same");
        got
    };
    session.say_many(20).await;
    assert!(!is_compacted().await);
    let oldest = CompactConversationRequest { count: Some(2), ..Default::default() };
    session.compactions().compact_conversation(oldest).await.reply();
    assert!(is_compacted().await);
    session.compactions().undo_compaction(UndoCompactionRequest::default()).await.reply();
    assert!(!is_compacted().await, "all of it is back");
    session.say(vec![user("the 21st")]).await;
    assert!(is_compacted().await, "an eviction counts too");
}

/// The 21st utterance exceeds the window's maximum: it goes down to 16.
#[tokio::test]
async fn the_window_rolls_in_steps() {
    let session = Session::new().await;
    assert_eq!(session.say_many(20).await, [0; 0]);
    let response = session.say(vec![user("the 21st")]).await;
    assert_eq!(sequences(&response.evicted), [1, 2, 3, 4, 5]);
    assert!(response.evicted.iter().all(|utterance| utterance.position.is_none()));
    assert_eq!(response.memorized[0].position, Some(16));
    let summary = response.summary.expect("what left is summarised");
    assert_eq!(ranges(&summary.written[0].covers), [(1, 5)]);
    let window = session.window().await;
    assert_eq!(sequences_of(&window), (6..=21).collect::<Vec<_>>());
    let positions: Vec<_> = window.iter().map(|utterance| utterance.position).collect();
    assert_eq!(positions, (1..=16).map(Some).collect::<Vec<_>>());
    let capacity = session.capacity().await;
    assert_eq!((capacity.utterance_count, capacity.archived_utterance_count), (Some(16), Some(5)));
    let summary = capacity.summary.unwrap();
    assert_eq!((summary.segment_count, summary.covered_utterance_count), (Some(1), Some(5)));
    assert_eq!(
        capacity.total_token_count,
        Some(capacity.token_count.unwrap() + summary.token_count.unwrap())
    );
    assert_eq!(session.say_many(4).await, [0; 0], "there is room up to 20 again");
}

/// Everything that a caller can set comes back.
#[tokio::test]
async fn an_utterance_comes_back_as_it_was_given() {
    let session = Session::new().await;
    let create_time = Some(prost_types::Timestamp { seconds: 1_000_000_000, nanos: 123_456_000 });
    let given = NewUtterance {
        utterance_id: "u-1".to_owned(),
        name: "Ann".to_owned(),
        turn_number: Some(3),
        create_time,
        pinned: true,
        metadata: [("mood".to_owned(), "calm".to_owned())].into(),
        extras_json: "{\"audio\":{\"id\":7}}".to_owned(),
        extras_token_count: 11,
        ..user("hello")
    };
    let answer = NewUtterance {
        tools_used: vec!["search".to_owned()],
        awaits_answer: true,
        ..assistant("Which one?")
    };
    session.say(vec![given.clone(), answer]).await;
    let stored = session.window().await;
    let first = &stored[0];
    assert_eq!(first.utterance_id, "u-1");
    assert_eq!((first.sequence, first.position, first.turn_number), (1, Some(1), Some(3)));
    assert_eq!((&first.name, &first.content, first.role), (&given.name, &given.content, given.role));
    assert_eq!((&first.create_time, first.pinned, &first.metadata), (&create_time, true, &given.metadata));
    assert_eq!(first.extras_json, given.extras_json);
    assert_eq!(first.token_count(), 1 + 4 + 1 + 1 + 11, "content, message, name and its overhead, extras");
    assert_eq!(first.state, i32::from(UtteranceState::Live));
    assert_eq!((&stored[1].tools_used[..], stored[1].awaits_answer), (&["search".to_owned()][..], true));
    assert_eq!(stored[1].turn_number, Some(3));
    assert!(stored[1].utterance_id.ends_with("-2"), "{}", stored[1].utterance_id);
}

/// Before the first user utterance is turn 0, which does not count as a turn.
#[tokio::test]
async fn turns_start_with_user_utterances() {
    let session = Session::new().await;
    let batch =
        vec![system("Be brief."), assistant("Hello!"), user("a"), assistant("b"), user("c"), user("d")];
    let response = session.say(batch).await;
    let turns: Vec<_> = response.memorized.iter().map(|utterance| utterance.turn_number.unwrap()).collect();
    assert_eq!(turns, [0, 0, 1, 1, 2, 3]);
    assert_eq!(response.capacity.unwrap().turn_count, Some(3));
    let leap = NewUtterance { turn_number: Some(10), ..user("e") };
    session.say(vec![leap, assistant("f"), user("g")]).await;
    let turns: Vec<_> =
        session.window().await.iter().map(|utterance| utterance.turn_number.unwrap()).collect();
    assert_eq!(turns[6..], [10, 10, 11]);
}

/// What real transcripts contain is accepted leniently, and reported.
#[tokio::test]
async fn a_lenient_call_reports_what_it_lets_pass() {
    let session = Session::new().await;
    let batch = vec![
        user(""),
        result("lost", "an answer to nothing"),
        assistant("go on"),
        calls(&["a"]),
        result("a", ""),
    ];
    let strict = session.memory().memorize(memorize(batch.clone())).await.refusal();
    strict.is(Code::InvalidArgument, "EMPTY_UTTERANCE").says("lenient accepts");
    let lenient = MemorizeRequest { lenient: true, ..memorize(batch) };
    let response = session.memory().memorize(lenient).await.reply();
    let irregular: Vec<_> = response.irregularities.iter().map(|one| (one.index, one.sequence)).collect();
    assert_eq!(irregular, [(Some(0), 1), (Some(1), 2)]);
    assert!(response.irregularities[0].description.contains("neither content nor tool calls"));
    assert!(response.irregularities[1].description.contains("\"lost\" is not an open call"));
    let window = session.window().await;
    assert_eq!(
        window.iter().map(|utterance| utterance.aside).collect::<Vec<_>>(),
        [false, true, false, false, false]
    );
    let tokens: i32 =
        window.iter().filter(|utterance| !utterance.aside).map(|utterance| utterance.token_count()).sum();
    assert_eq!(session.capacity().await.token_count, Some(tokens), "what is aside counts nothing");
}
