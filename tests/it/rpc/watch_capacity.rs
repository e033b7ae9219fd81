//! WatchCapacity: the current capacity, and then after each change.

use tonic::Streaming;

use crate::support::prelude::*;

async fn watch(session: &Session, request: WatchCapacityRequest) -> Streaming<WatchCapacityResponse> {
    session.memory().watch_capacity(request).await.reply()
}

async fn next(watch: &mut Streaming<WatchCapacityResponse>) -> Capacity {
    watch.message().await.unwrap().expect("the stream goes on").capacity.unwrap()
}

#[tokio::test]
async fn every_change_is_seen() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let mut watch = watch(&session, WatchCapacityRequest::default()).await;
    assert_eq!(next(&mut watch).await, session.capacity().await, "it starts with what is");
    session.say(vec![user("world")]).await;
    assert_eq!(next(&mut watch).await, session.capacity().await);
    session.forget("oldest", ForgetMode::Soft).await;
    assert_eq!(next(&mut watch).await.soft_deleted_count, Some(1));
    session.update_policy(Policy { max_utterances: Some(1), ..Default::default() }).await;
    assert_eq!(next(&mut watch).await.max_utterances, Some(1));
    session.forget("all", ForgetMode::Hard).await;
    assert_eq!(next(&mut watch).await.utterance_count, Some(0));
}

/// A slow reader sees the newest state, and not each one in between.
#[tokio::test]
async fn a_slow_reader_sees_the_newest() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let mut watch = watch(&session, WatchCapacityRequest::default()).await;
    session.say_many(500).await;
    let (mut seen, mut revision) = (0, 0);
    while revision < 501 {
        let capacity = next(&mut watch).await;
        assert!(capacity.revision > revision, "never twice, never back");
        revision = capacity.revision;
        seen += 1;
    }
    assert!(seen <= 501);
}

#[tokio::test]
async fn a_deletion_ends_it() {
    let session = Session::new().await;
    let conversation_id = session.say(vec![user("hello")]).await.conversation_id;
    let by_id = WatchCapacityRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    let mut watches = [watch(&session, by_id).await, watch(&session, WatchCapacityRequest::default()).await];
    for watch in &mut watches {
        next(watch).await;
    }
    session.delete(&conversation_id).await;
    let anew = MemorizeRequest { conversation_id, ..memorize(vec![user("another of the same name")]) };
    session.memory().memorize(anew).await.reply();
    let [by_id, by_recipient] = &mut watches;
    let refused = Refused::new(by_id.message().await.unwrap_err());
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    assert!(matches!(by_id.message().await, Ok(None)), "the stream has ended");
    let without = next(by_recipient).await;
    assert_eq!((without.conversation_id.as_str(), without.utterance_count), ("", Some(0)));
}

/// From the first one on, across an end, a rollover, and a deletion.
#[tokio::test]
async fn a_watch_of_a_recipient_follows_its_conversations() {
    let session = Session::new().await;
    let ann = || WatchCapacityRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    let mut watch = watch(&session, ann()).await;
    let mut seen = async || {
        let capacity = next(&mut watch).await;
        assert_eq!((capacity.recipient_id.as_str(), capacity.max_utterances), ("ann", Some(20)));
        let live = capacity.live_utterance_count();
        (capacity.conversation_id, capacity.revision, live)
    };
    let say = async || {
        let said = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user("hello")]) };
        session.memory().memorize(said).await.reply().conversation_id
    };
    let none = || (String::new(), 0, 0);
    assert_eq!(seen().await, none());
    let first = say().await;
    assert_eq!(seen().await, (first.clone(), 1, 1));
    say().await;
    assert_eq!(seen().await, (first, 2, 2));
    let end = EndConversationRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    session.conversations().end_conversation(end).await.reply();
    assert_eq!(seen().await, none());
    let second = say().await;
    assert_eq!(seen().await, (second.clone(), 1, 1));
    session.clock.advance(std::time::Duration::from_secs(30 * 60));
    let third = say().await;
    assert_ne!(second, third);
    assert_eq!(seen().await, (third.clone(), 1, 1));
    session.delete(&third).await;
    assert_eq!(seen().await, none());
}

#[tokio::test]
async fn another_conversation_is_not_seen() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let mut watch = watch(&session, WatchCapacityRequest::default()).await;
    next(&mut watch).await;
    let other = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user("hi")]) };
    session.memory().memorize(other).await.reply();
    session.say(vec![user("world")]).await;
    let capacity = next(&mut watch).await;
    assert_eq!((capacity.revision, capacity.utterance_count), (2, Some(2)));
}

#[tokio::test]
async fn what_does_not_exist_cannot_be_watched() {
    let session = Session::new().await;
    let unknown = WatchCapacityRequest { conversation_id: "nowhere".to_owned(), ..Default::default() };
    let refused = session.memory().watch_capacity(unknown).await;
    refused.map(|_| tonic::Response::new(())).refusal().is(Code::NotFound, "CONVERSATION_NOT_FOUND");
}
