//! Conversations that end: on request, when idle, and when too many have ended.

use utterd::proto::memorize_stream_response;

use crate::support::prelude::*;

const MINUTE: Duration = Duration::from_secs(60);

fn idle() -> Duration {
    30 * MINUTE
}

fn end(reason: &str) -> EndConversationRequest {
    EndConversationRequest { reason: reason.to_owned(), ..Default::default() }
}

async fn list(session: &Session, status: ConversationStatus) -> Vec<Conversation> {
    let request = ListConversationsRequest { status: status.into(), page_size: 1_000, ..Default::default() };
    session.conversations().list_conversations(request).await.reply().conversations
}

on_each_store! {
    the_next_message_ends_a_conversation_that_was_left
    calls_at_once_start_one_conversation
    so_many_ended_conversations_are_kept
}

#[tokio::test]
async fn the_next_message_ends_a_conversation_that_was_left() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(7), ..Default::default() }).await;
    let first = session.say(vec![user("Book me a flight to Oslo, please."), assistant("Booked.")]).await;
    session.clock.advance(idle() - Duration::from_micros(1));
    let same = session.say(vec![user("and a hotel")]).await;
    assert_eq!(same.conversation_id, first.conversation_id, "the timeout starts anew with each message");

    session.clock.advance(idle());
    let next = session.say(vec![user("What's the weather?")]).await;
    assert!(next.started_conversation);
    assert_eq!(next.revision, 1);
    assert_eq!(next.ended_conversation_id, first.conversation_id);
    assert_eq!(next.capacity.expect("a capacity").max_utterances, Some(7), "the policy goes on");
    let ended = session.get(&first.conversation_id).await;
    assert_eq!((ended.status(), ended.active), (ConversationStatus::Closed, false));
    assert_eq!(ended.ended_reason, "idle timeout");
    assert!(!ended.title.is_empty() && !ended.closing_summary.is_empty());
    let active = session.get(&next.conversation_id).await;
    assert!(active.active);
    let closed = list(&session, ConversationStatus::Closed).await;
    assert_eq!(closed, [ended], "a list tells all but what was said");
}

/// However many callers find the conversation idle at the same time, one ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_start_one_conversation() {
    let session = Session::new().await;
    for round in 0..20 {
        let before = session.say(vec![user("hello")]).await.conversation_id;
        session.clock.advance(idle());
        let calls = (0..16).map(|number| {
            let mut memory = session.memory();
            tokio::spawn(async move {
                memory.memorize(memorize(vec![user(&format!("message {number}"))])).await.reply()
            })
        });
        let mut ids = std::collections::BTreeSet::new();
        let (mut started, mut ended) = (0, 0);
        for call in calls.collect::<Vec<_>>() {
            let response = call.await.expect("the call ends");
            started += usize::from(response.started_conversation);
            ended += usize::from(response.ended_conversation_id == before);
            ids.insert(response.conversation_id);
        }
        assert_eq!((ids.len(), started, ended), (1, 1, 1), "round {round}");
        assert_eq!(session.window().await.len(), 16);
        session.conversations().end_conversation(end("")).await.reply();
    }
}

#[tokio::test]
async fn a_stream_goes_on_in_the_next_conversation() {
    let session = Session::new().await;
    let before = session.say(vec![user("hello")]).await.conversation_id;
    session.clock.advance(idle());
    let messages = (1..=50).map(|number| MemorizeStreamRequest {
        memorize: Some(memorize(vec![user(&format!("message {number}"))])),
        ..Default::default()
    });
    let mut responses =
        session.memory().memorize_stream(futures::stream::iter(messages.collect::<Vec<_>>())).await.reply();
    let mut next = None;
    for number in 1..=50 {
        let response = responses.message().await.expect("a response").expect("one for each").result;
        let Some(memorize_stream_response::Result::Memorized(response)) = response else {
            panic!("{response:?}")
        };
        assert_eq!(response.started_conversation, number == 1);
        assert_eq!(response.ended_conversation_id == before, number == 1);
        assert_eq!(response.revision, number);
        assert_eq!(*next.get_or_insert(response.conversation_id.clone()), response.conversation_id);
    }
}

#[tokio::test]
async fn so_many_ended_conversations_are_kept() {
    let settings = Settings { max_conversations_retained: 3, ..Settings::default() };
    let session = Session::with(&settings).await;
    let mut ids = Vec::new();
    for number in 1..=6 {
        let response = session.say(vec![user(&format!("topic {number}"))]).await;
        ids.push(response.conversation_id);
        session.clock.advance(idle());
    }
    assert_eq!(session.server.engine().sweep().await, Ok(3));
    let listed = list(&session, ConversationStatus::Unspecified).await;
    let listed: Vec<_> = listed.iter().rev().map(|listed| listed.conversation_id.clone()).collect();
    assert_eq!(listed, ids[3..6], "the first three of five are gone, and the sixth is active");
    let gone = GetConversationRequest { conversation_id: ids[0].clone(), ..Default::default() };
    session
        .conversations()
        .get_conversation(gone)
        .await
        .refusal()
        .is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    session.conversations().end_conversation(end("")).await.reply();
    assert_eq!(session.server.engine().sweep().await, Ok(0), "none is active now");
    assert_eq!(list(&session, ConversationStatus::Closed).await.len(), 3);
    session.say(vec![user("topic 7")]).await;
    assert_eq!(session.server.engine().sweep().await, Ok(1));
    assert_eq!(list(&session, ConversationStatus::Unspecified).await.len(), 3);
}

#[tokio::test]
async fn the_timeouts_are_the_servers() {
    let settings = Settings { idle_timeout: MINUTE, awaiting_timeout: 120 * MINUTE, ..Settings::default() };
    let session = Session::with(&settings).await;
    let question = NewUtterance { awaits_answer: true, ..assistant("Which one?") };
    for (said, timeout, status) in [
        (user("hello"), MINUTE, ConversationStatus::Active),
        (question, 120 * MINUTE, ConversationStatus::AwaitingAnswer),
    ] {
        session.say(vec![said]).await;
        session.clock.advance(timeout - Duration::from_micros(1));
        assert_eq!(session.capacity().await.status(), status);
        session.clock.advance(Duration::from_micros(1));
        assert_eq!(session.capacity().await.status(), ConversationStatus::Idle);
    }
}
