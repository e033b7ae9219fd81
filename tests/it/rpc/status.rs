//! The status of a conversation, and when it is removed, by the server's clock.

use std::time::Duration;

use utterd::{
    config::Settings,
    proto::{
        ConversationStatus, ForgetMode, NewUtterance, Operation, Policy, WatchEventsRequest,
        watch_events_response::Message,
    },
};

use crate::support::session::{Reply, Session, assistant, user};

const MINUTE: Duration = Duration::from_secs(60);

async fn status(session: &Session) -> ConversationStatus {
    session.capacity().await.status()
}

fn question() -> NewUtterance {
    NewUtterance { awaits_answer: true, ..assistant("Which one?") }
}

#[tokio::test]
async fn a_conversation_is_idle_after_30_minutes() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    assert_eq!(status(&session).await, ConversationStatus::Active);
    session.clock.advance(30 * MINUTE - Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::Active);
    session.clock.advance(Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::Idle);
    session.pin(1, true).await;
    assert_eq!(status(&session).await, ConversationStatus::Idle, "nothing was said");
    session.say(vec![user("back again")]).await;
    assert_eq!(status(&session).await, ConversationStatus::Active);
}

#[tokio::test]
async fn the_awaiting_timeout_is_the_servers() {
    let settings = Settings { awaiting_timeout: 120 * MINUTE, ..Settings::default() };
    let session = Session::with(&settings).await;
    session.say(vec![question()]).await;
    session.clock.advance(120 * MINUTE - Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::AwaitingAnswer);
    session.clock.advance(Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::Idle);
}

#[tokio::test]
async fn the_idle_timeout_is_the_servers() {
    let session = Session::with(&Settings { idle_timeout: MINUTE, ..Settings::default() }).await;
    session.say(vec![user("hello")]).await;
    session.clock.advance(MINUTE);
    assert_eq!(status(&session).await, ConversationStatus::Idle);
}

/// A question is open until the next utterance, and stale after an hour.
#[tokio::test]
async fn an_awaited_answer_goes_stale() {
    let session = Session::new().await;
    session.say(vec![user("a flight"), question()]).await;
    session.clock.advance(60 * MINUTE - Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::AwaitingAnswer);
    session.clock.advance(Duration::from_micros(1));
    assert_eq!(status(&session).await, ConversationStatus::Idle);
    session.say(vec![question()]).await;
    assert_eq!(status(&session).await, ConversationStatus::AwaitingAnswer);
    session.say(vec![user("the first")]).await;
    assert_eq!(status(&session).await, ConversationStatus::Active);
    session.say(vec![question()]).await;
    session.forget("newest", ForgetMode::Soft).await;
    assert_eq!(status(&session).await, ConversationStatus::Active, "the question is forgotten");
}

fn expiring(seconds: i64) -> Policy {
    Policy { expire_after: Some(prost_types::Duration { seconds, nanos: 0 }), ..Default::default() }
}

#[tokio::test]
async fn a_conversation_expires_after_its_last_change() {
    let session = Session::with(&Settings { idle_timeout: 120 * MINUTE, ..Settings::default() }).await;
    session.create_with(expiring(3_600)).await;
    session.say(vec![user("hello")]).await;
    session.clock.advance(50 * MINUTE);
    session.say(vec![user("still here")]).await;
    session.clock.advance(60 * MINUTE - Duration::from_micros(1));
    assert_eq!(session.server.engine().sweep().await, Ok(0));
    assert_eq!(session.window().await.len(), 2);
    let expired =
        WatchEventsRequest { operations: vec![Operation::ExpireConversation.into()], ..Default::default() };
    let mut events = session.trace().watch_events(expired).await.reply();
    assert!(matches!(events.message().await.unwrap().unwrap().message, Some(Message::Started(_))));
    session.clock.advance(Duration::from_micros(1));
    assert_eq!(session.server.engine().sweep().await, Ok(1));
    assert_eq!(session.capacity().await.revision, 0, "it is gone");
    let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else {
        panic!("no event")
    };
    assert_eq!((event.operation(), event.recipient_id.as_str()), (Operation::ExpireConversation, "default"));
    assert!(session.say(vec![user("hello")]).await.started_conversation);
    assert_eq!(session.server.engine().sweep().await, Ok(0));
}

#[tokio::test]
async fn expiry_can_be_changed_and_taken_back() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    session.update_policy(expiring(60)).await;
    session.update_policy(expiring(0)).await;
    session.clock.advance(10_000 * MINUTE);
    assert_eq!(session.server.engine().sweep().await, Ok(0), "0 is never");
    session.update_policy(expiring(60)).await;
    session.clock.advance(MINUTE);
    assert_eq!(session.server.engine().sweep().await, Ok(1));
}
