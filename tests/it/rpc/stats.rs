//! GetStats: the conversations in numbers.

use tonic::Code;
use utterd::proto::{
    ConversationStatus, EndConversationRequest, ForgetMode, GetStatsRequest, MemorizeRequest, NewUtterance,
    Policy, Role, Stats, StatsScope, TimeBucket, UtteranceCount,
};

use crate::support::session::{Reply, Session, assistant, calls, memorize, result, system, user};

async fn stats(session: &Session, request: GetStatsRequest) -> Stats {
    session.conversations().get_stats(request).await.reply().stats.expect("there are numbers")
}

fn numbers(count: &Option<UtteranceCount>) -> (i32, i32, i32) {
    let count = count.expect("a count");
    (count.utterance_count(), count.token_count(), count.turn_count())
}

on_each_store! {
    a_long_archive_is_counted_whole
}

#[tokio::test]
async fn a_conversation_is_counted_by_role_and_by_day() {
    let session = Session::new().await;
    session.say(vec![system("Be brief."), user("Where is my order?"), assistant("On its way.")]).await;
    let sunday = 1_772_323_200; // 1 March 2026
    let monday = prost_types::Timestamp { seconds: sunday + 86_400 + 7, nanos: 0 };
    let said = [user("Since when?"), assistant("Since Monday.")];
    session.say(said.map(|said| NewUtterance { create_time: Some(monday), ..said }).into()).await;
    let said = session.window().await;
    let tokens = |range: std::ops::Range<usize>| -> i32 {
        said[range].iter().map(|utterance| utterance.token_count()).sum()
    };

    let told = stats(&session, GetStatsRequest::default()).await;
    assert_eq!((told.recipient_id.as_str(), told.revision), ("default", Some(2)));
    assert_eq!(numbers(&told.total), (5, tokens(0..5), 2));
    let roles: Vec<_> = told.roles.iter().map(|role| (role.role(), numbers(&role.count).0)).collect();
    assert_eq!(roles, [(Role::System, 1), (Role::User, 2), (Role::Assistant, 2)]);
    let spans: Vec<_> = told
        .spans
        .iter()
        .map(|span| (span.start_time.expect("a time").seconds, numbers(&span.total)))
        .collect();
    assert_eq!(spans, [(sunday, (3, tokens(0..3), 1)), (sunday + 86_400, (2, tokens(3..5), 1))]);
    assert_eq!(told.conversations.len(), 1);
    assert_eq!(told.conversations[0].status(), ConversationStatus::Active);
    assert_eq!(told.compression.and_then(|compression| compression.ratio), None);

    let request = GetStatsRequest { bucket: TimeBucket::Month.into(), ..Default::default() };
    let months = stats(&session, request).await.spans;
    assert_eq!(months.len(), 1);
    assert_eq!(months[0].start_time.map(|start| start.seconds), Some(sunday));
}

/// What left the window is counted too, and what its summary saves.
#[tokio::test]
async fn the_archive_is_counted_and_the_summary() {
    let session = Session::new().await;
    let limits = Policy { max_utterances: Some(10), archive_limit: Some(30), ..Default::default() };
    session.create_with(limits).await;
    for number in 1..=60 {
        let text = format!("Invoice INV-{number:03} of {number} EUR is due; it was sent by bank transfer.");
        session.say(vec![user(&text)]).await;
    }
    let capacity = session.capacity().await;
    let told = stats(&session, GetStatsRequest::default()).await;
    let stored = session.stored().await;
    assert_eq!(numbers(&told.total).0, stored.len() as i32);
    assert_eq!(numbers(&told.total).2, stored.len() as i32, "each is a turn of its own");
    let tokens: i32 = stored.iter().map(|utterance| utterance.token_count()).sum();
    assert_eq!(numbers(&told.total).1, tokens);

    let evictions = told.evictions.expect("evictions");
    assert_eq!(evictions.evicted_utterance_count(), 60 - capacity.utterance_count());
    assert_eq!(evictions.archived_utterance_count, capacity.archived_utterance_count);
    assert_eq!(
        evictions.dropped_utterance_count(),
        evictions.evicted_utterance_count() - evictions.archived_utterance_count()
    );
    assert!(evictions.dropped_utterance_count() > 0);

    let summary = capacity.summary.expect("a summary");
    let all = told.compression.expect("a compression");
    assert_eq!(all.segment_count(), summary.segment_count());
    assert_eq!(all.covered_utterance_count(), summary.covered_utterance_count());
    assert_eq!(all.summary_token_count(), summary.token_count());
    assert!(all.source_token_count() > all.summary_token_count());
    assert_eq!(all.ratio, Some(f64::from(all.source_token_count()) / f64::from(all.summary_token_count())));
    let levels: i32 = told.levels.iter().map(|level| level.compression.unwrap().segment_count()).sum();
    assert_eq!(levels, all.segment_count());
}

/// An archive with several chunks and a pinned utterance in between is counted in order.
#[tokio::test]
async fn a_long_archive_is_counted_whole() {
    let session = Session::new().await;
    for batch in 0..25 {
        let said = (0..100).map(|number| user(&format!("message {batch} {number}"))).collect();
        session.say(said).await;
        if batch == 3 {
            let newest = session.window().await.last().expect("something was said").sequence;
            session.pin(newest, true).await;
        }
    }
    let told = stats(&session, GetStatsRequest::default()).await;
    assert_eq!((numbers(&told.total).0, numbers(&told.total).2), (2_500, 2_500));
    assert_eq!(told.spans.len(), 1);
    assert_eq!(numbers(&told.spans[0].total), numbers(&told.total));
}

#[tokio::test]
async fn tools_are_counted_with_their_results() {
    let session = Session::new().await;
    session.say(vec![user("look"), calls(&["a", "b"]), result("b", "one two three"), result("a", "")]).await;
    session.say(vec![calls(&["c"]), user("never mind")]).await;
    let stored = session.stored().await;
    let results: i32 = stored[2..4].iter().map(|utterance| utterance.token_count()).sum();
    let told = stats(&session, GetStatsRequest::default()).await;
    assert_eq!(told.tools.len(), 1);
    let tool = &told.tools[0];
    assert_eq!((tool.name.as_str(), tool.call_count()), ("find", 3));
    assert_eq!((tool.answered_count(), tool.unanswered_count()), (2, 1));
    assert_eq!((tool.result_token_count(), told.omitted_tool_count()), (results, 0));
}

#[tokio::test]
async fn what_is_forgotten_is_counted_apart() {
    let session = Session::new().await;
    session.say(vec![user("one"), user("two"), user("three")]).await;
    session.forget("oldest", ForgetMode::Soft).await;
    let told = stats(&session, GetStatsRequest::default()).await;
    assert_eq!((numbers(&told.total).0, told.forgotten_utterance_count()), (2, 1));
    session.forget("all", ForgetMode::Hard).await;
    let told = stats(&session, GetStatsRequest::default()).await;
    assert_eq!((numbers(&told.total), told.forgotten_utterance_count()), ((0, 0, 0), 0));
    assert!(told.roles.is_empty() && told.spans.is_empty());
}

/// All conversations of one recipient, and of no other.
#[tokio::test]
async fn a_recipient_is_counted() {
    let session = Session::new().await;
    let say = async |conversation: &str, recipient: &str, count: usize| {
        let said = (0..count).map(|number| user(&format!("message {number}"))).collect();
        let request = MemorizeRequest {
            conversation_id: conversation.to_owned(),
            recipient_id: recipient.to_owned(),
            ..memorize(said)
        };
        session.memory().memorize(request).await.reply();
    };
    say("a", "ann", 2).await;
    say("b", "ann", 25).await;
    say("c", "bob", 40).await;
    let all_of = |recipient: &str| GetStatsRequest {
        recipient_id: recipient.to_owned(),
        scope: StatsScope::Recipient.into(),
        ..Default::default()
    };
    let ann = stats(&session, all_of("ann")).await;
    assert_eq!((ann.recipient_id.as_str(), ann.conversation_id.as_str(), ann.revision), ("ann", "", None));
    assert_eq!((numbers(&ann.total).0, numbers(&ann.total).2), (27, 27));
    assert_eq!(ann.conversations[0].conversation_count(), 2);
    assert!(ann.evictions.expect("evictions").evicted_utterance_count() > 0);
    let nobody = stats(&session, all_of("nobody")).await;
    assert_eq!((numbers(&nobody.total), nobody.conversations.len()), ((0, 0, 0), 0));
}

/// Ended conversations are counted with the others, and separately.
#[tokio::test]
async fn conversations_are_counted_by_what_they_are_doing() {
    let session = Session::new().await;
    session.say(vec![user("one")]).await;
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    session.say(vec![user("two"), user("three")]).await;
    let request = GetStatsRequest { scope: StatsScope::Recipient.into(), ..Default::default() };
    let told = stats(&session, request).await;
    assert_eq!(numbers(&told.total).0, 3);
    let statuses: Vec<_> =
        told.conversations.iter().map(|of| (of.status(), of.conversation_count())).collect();
    assert_eq!(statuses, [(ConversationStatus::Active, 1), (ConversationStatus::Closed, 1)]);
}

#[tokio::test]
async fn what_cannot_be_counted_is_refused() {
    let session = Session::new().await;
    let mut client = session.conversations();
    let unknown = GetStatsRequest { conversation_id: "nowhere".to_owned(), ..Default::default() };
    let missing = client.get_stats(unknown).await.refusal();
    missing.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    let bad = [
        (GetStatsRequest { scope: 9, ..Default::default() }, "scope"),
        (GetStatsRequest { bucket: -1, ..Default::default() }, "bucket"),
        (
            GetStatsRequest {
                conversation_id: "c".to_owned(),
                scope: StatsScope::Recipient.into(),
                ..Default::default()
            },
            "conversation_id",
        ),
    ];
    for (request, field) in bad {
        let refused = client.get_stats(request).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(field);
    }
}
