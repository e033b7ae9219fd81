//! Wrong clocks: temporarily ahead, or before 1970.

use crate::support::prelude::*;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

fn to(conversation_id: &str) -> MemorizeRequest {
    MemorizeRequest { conversation_id: conversation_id.to_owned(), ..memorize(vec![user("Hello.")]) }
}

async fn status(session: &Session) -> ConversationStatus {
    session.capacity().await.status()
}

async fn first_idle(session: &Session) {
    let request =
        |status: ConversationStatus| ListConversationsRequest { status: status.into(), ..Default::default() };
    for (wanted, count) in [(ConversationStatus::Active, 0), (ConversationStatus::Idle, 1)] {
        let listed = session.conversations().list_conversations(request(wanted)).await.reply();
        assert_eq!(listed.conversations.len(), count, "{wanted:?}");
    }
}

#[tokio::test]
async fn a_conversation_is_idle_half_an_hour_after_the_clock_was_set_back() {
    let session = Session::new().await;
    session.clock.advance(YEAR);
    let said = session.say_many(1).await;
    assert!(said.is_empty());
    session.clock.set_back(YEAR);
    assert_eq!(status(&session).await, ConversationStatus::Active);
    session.clock.advance(29 * MINUTE);
    assert_eq!(status(&session).await, ConversationStatus::Active);
    session.clock.advance(MINUTE);
    assert_eq!(status(&session).await, ConversationStatus::Idle);
    first_idle(&session).await;
    let stats = session.conversations().get_stats(GetStatsRequest::default()).await.reply();
    let stats = stats.stats.expect("numbers");
    assert_eq!(stats.conversations[0].status(), ConversationStatus::Idle);
    let next = session.memory().memorize(memorize(vec![user("Hello again.")])).await.reply();
    assert!(next.started_conversation && !next.ended_conversation_id.is_empty());
}

#[tokio::test]
async fn what_is_said_after_the_clock_was_set_back_has_the_present_time() {
    let session = Session::new().await;
    session.clock.advance(YEAR);
    let first = session.say(vec![user("one")]).await;
    session.clock.set_back(YEAR);
    let second = session.say(vec![user("two")]).await;
    assert_eq!(second.conversation_id, first.conversation_id, "nobody was away for long");
    let times: Vec<i64> =
        session.stored().await.iter().map(|it| it.create_time.expect("a time").seconds).collect();
    assert_eq!(times[0] - times[1], YEAR.as_secs() as i64);
    session.clock.advance(30 * MINUTE);
    assert_eq!(status(&session).await, ConversationStatus::Idle);
}

/// A small step back, as between the clocks of two servers, puts nothing before what was already said.
#[tokio::test]
async fn a_small_step_back_keeps_the_order_of_times() {
    let session = Session::new().await;
    session.say(vec![user("one")]).await;
    session.clock.set_back(MINUTE);
    session.say(vec![user("two")]).await;
    let times: Vec<_> = session.stored().await.iter().map(|it| it.create_time).collect();
    assert_eq!(times[0], times[1]);
}

/// Times that an earlier run stored ahead of the clock count from the start of this run.
#[tokio::test]
async fn a_server_starts_over_what_was_said_a_year_ahead() {
    let (store, clock) = (Arc::new(MemoryStore::new(0)), ManualClock::new());
    clock.advance(YEAR);
    Session::at(store.clone(), &clock).await.say_many(1).await;
    clock.set_back(YEAR);
    let session = Session::at(store, &clock).await;
    assert_eq!(status(&session).await, ConversationStatus::Active);
    clock.advance(30 * MINUTE);
    assert_eq!(status(&session).await, ConversationStatus::Idle);
}

#[tokio::test]
async fn a_share_is_good_for_no_longer_than_it_was_given() {
    let session = Session::new().await;
    session.say_many(1).await;
    session.clock.advance(YEAR);
    let share =
        async || session.conversations().share_conversation(ShareConversationRequest::default()).await;
    let read = async |token: &str| {
        let request = ReadSharedRequest { token: token.to_owned(), ..Default::default() };
        session.conversations().read_shared(request).await
    };
    let ahead = share().await.reply().token;
    read(&ahead).await.reply();
    session.clock.set_back(YEAR);
    read(&ahead).await.refusal().is(Code::PermissionDenied, "SHARE_NOT_VALID");
    let token = share().await.reply().token;
    read(&token).await.reply();
    session.clock.advance(7 * DAY);
    read(&token).await.refusal().is(Code::PermissionDenied, "SHARE_NOT_VALID");
    session.clock.advance(YEAR);
    read(&ahead).await.refusal().is(Code::PermissionDenied, "SHARE_NOT_VALID");
}

#[tokio::test]
async fn a_request_id_is_known_after_the_clock_was_set_back_and_then_forgotten() {
    let session = Session::new().await;
    let request = |id: &str| MemorizeRequest { request_id: id.to_owned(), ..to("conversation") };
    session.clock.advance(YEAR);
    session.memory().memorize(request("ahead")).await.reply();
    session.clock.set_back(YEAR);
    session.memory().memorize(request("now")).await.reply();
    for id in ["ahead", "now"] {
        assert!(session.memory().memorize(request(id)).await.reply().replayed, "{id}");
    }
    session.clock.advance(DAY + MINUTE);
    session.server.engine().sweep().await.expect("a sweep");
    assert!(!session.memory().memorize(request("now")).await.reply().replayed);
}

#[tokio::test]
async fn a_conversation_expires_by_its_last_use_after_the_clock_was_set_back() {
    let session = Session::new().await;
    let expire_after = Some(prost_types::Duration { seconds: 86_400, nanos: 0 });
    session.create_with(Policy { expire_after, ..Default::default() }).await;
    session.clock.advance(YEAR);
    session.say_many(1).await;
    session.clock.set_back(YEAR);
    session.say_many(1).await;
    session.clock.advance(DAY - MINUTE);
    assert_eq!(session.server.engine().sweep().await.expect("a sweep"), 0);
    session.clock.advance(MINUTE);
    assert_eq!(session.server.engine().sweep().await.expect("a sweep"), 1);
}

#[tokio::test]
async fn calls_are_answered_before_1970() {
    let session = Session::new().await;
    session.clock.set_back(100 * YEAR);
    session.say_many(21).await;
    let stored = session.stored().await;
    assert_eq!(stored.len(), 21);
    assert!(stored[0].create_time.expect("a time").seconds < 0);
    session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
    session.conversations().get_stats(GetStatsRequest::default()).await.reply();
    session.memory().summarize(SummarizeRequest::default()).await.reply();
    let prompt = "message 3".to_owned();
    let found = session.memory().remember(RememberRequest { prompt, ..Default::default() }).await.reply();
    assert!(!found.matches.is_empty());
    session.forget("forget everything older than a week", utterd::proto::ForgetMode::Soft).await;
    session.conversations().share_conversation(ShareConversationRequest::default()).await.reply();
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    session.server.engine().sweep().await.expect("a sweep");
}
