//! A slow or failing store: what is visible, to whom, and when.

use tokio::task::JoinHandle;
use utterd::proto::{memory_service_server::MemoryService, watch_events_response::Message};

use crate::support::prelude::*;

async fn gated() -> (Session, Arc<Gate>) {
    let gate = Gate::new();
    (Session::over(gate.clone()).await, gate)
}

type Call = JoinHandle<Result<tonic::Response<MemorizeResponse>, tonic::Status>>;

fn start(session: &Session, request: MemorizeRequest) -> Call {
    let mut memory = session.memory();
    tokio::spawn(async move { memory.memorize(request).await })
}

/// One after another, so that they are in the queue in this order.
async fn start_many(session: &Session, count: usize) -> Vec<Call> {
    let mut calls = Vec::new();
    for number in 0..count {
        calls.push(start(session, memorize(vec![user(&format!("waiting {number}"))])));
        settle().await;
    }
    calls
}

/// Shuts the gate, and returns once the deletion waits at it.
async fn start_deletion(
    session: &Session,
    gate: &Gate,
    id: &str,
) -> JoinHandle<Result<tonic::Response<DeleteConversationResponse>, tonic::Status>> {
    gate.shut();
    let mut conversations = session.conversations();
    let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    let deleted = tokio::spawn(async move { conversations.delete_conversation(request).await });
    gate.holds(1).await;
    deleted
}

/// Until its flush is done, a change is visible to nobody.
#[tokio::test]
async fn a_change_is_published_after_its_flush() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    let mut watch =
        session.memory().watch_capacity(utterd::proto::WatchCapacityRequest::default()).await.reply();
    assert_eq!(watch.message().await.unwrap().unwrap().capacity.unwrap().revision, 1);
    let before = session.cursor();
    gate.shut();
    let call = start(&session, memorize(vec![user("waiting")]));
    gate.holds(1).await;
    assert_eq!(session.cursor(), before, "no event goes out");
    assert_eq!(session.capacity().await.revision, 1);
    assert_eq!(session.window().await.len(), 1);
    assert!(!call.is_finished());
    gate.release(1);
    assert_eq!(call.await.unwrap().reply().revision, 2);
    assert_eq!(session.capacity().await.revision, 2);
    assert_eq!(watch.message().await.unwrap().unwrap().capacity.unwrap().revision, 2);
}

/// One commit is in flight; what arrives meanwhile shares the next one.
#[tokio::test]
async fn many_appends_share_a_flush() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let calls = start_many(&session, 30).await;
    assert_eq!((gate.held(), gate.changes()), (1, 1));
    assert_eq!(session.capacity().await.revision, 1);
    gate.release(1);
    gate.holds(1).await;
    assert_eq!((gate.held(), gate.changes()), (1, 29));
    assert_eq!(session.capacity().await.revision, 2);
    gate.open();
    let mut told = Vec::new();
    for call in calls {
        told.push(call.await.unwrap().reply().memorized[0].sequence);
    }
    assert_eq!(told, (2..=31).collect::<Vec<_>>());
    assert_eq!(session.capacity().await.revision, 31);
    assert_eq!(sequences_of(&session.stored().await), (1..=31).collect::<Vec<_>>());
}

/// Everything decided together with a failed change is discarded with it.
#[tokio::test]
async fn a_failed_flush_fails_every_caller_in_it() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let mut calls = start_many(&session, 11).await;
    gate.release(1);
    gate.holds(1).await;
    calls.remove(0).await.unwrap().reply();
    let before = session.cursor();
    gate.fail(1);
    for call in calls {
        let refused = call.await.unwrap().refusal().is(Code::Unavailable, "STORE_UNAVAILABLE");
        let retry = refused.says("the disk is gone").details().retry_info().and_then(|info| info.retry_delay);
        assert_eq!(retry, Some(Duration::from_secs(1)));
    }
    assert_eq!(session.cursor(), before, "nothing happened");
    assert_eq!(session.capacity().await.revision, 2);
    gate.open();
    let next = session.say(vec![user("better now")]).await;
    assert_eq!((next.memorized[0].sequence, next.revision), (3, 3));
    assert_eq!(sequences_of(&session.window().await), [1, 2, 3]);
}

/// What the store has accepted is published even if nobody waits for the response.
#[tokio::test]
async fn a_caller_that_goes_away_loses_no_publication() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    events.message().await.unwrap().unwrap();
    gate.shut();
    {
        let request = Request::new(memorize(vec![user("waiting")]));
        let mut call = session.server.services().memorize(request);
        tokio::select! {
            biased;
            _ = &mut call => panic!("the store has not answered"),
            () = gate.holds(1) => {}
        }
    }
    gate.open();
    let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else {
        panic!("no event")
    };
    assert_eq!(event.revision, Some(2));
    assert_eq!(sequences_of(&session.window().await), [1, 2]);
    assert_eq!(session.say(vec![user("next")]).await.memorized[0].sequence, 3);
}

/// A duplicate that finds the outcome before its state is published waits for that: its response equals the
/// first one.
#[tokio::test]
async fn a_replay_is_the_first_answer_however_early_it_comes() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("once")]) };
    let first = start(&session, request.clone());
    gate.holds(1).await;
    let answer = gate.take_effect();
    let duplicate = start(&session, request);
    settle().await;
    assert!(!duplicate.is_finished(), "nothing is published yet");
    answer();
    let (first, duplicate) = (first.await.unwrap().reply(), duplicate.await.unwrap().reply());
    assert!(duplicate.replayed);
    assert_eq!(MemorizeResponse { replayed: false, ..duplicate }, first);
}

/// A hard forget waits for the commit in flight, not for the writes that wait too. What is being erased is erased
/// when the response says so, and no write undoes that.
#[tokio::test]
async fn a_hard_forget_waits_for_the_commit_in_flight() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let calls = start_many(&session, 3).await;
    let mut memory = session.memory();
    let erased = tokio::spawn(async move { memory.forget(forget("sequence:1-3", ForgetMode::Hard)).await });
    settle().await;
    let later = start(&session, memorize(vec![user("later")]));
    settle().await;
    assert_eq!(gate.held(), 1);
    gate.open();
    for call in calls {
        call.await.unwrap().reply();
    }
    assert_eq!(erased.await.unwrap().reply().forgotten.len(), 2);
    assert_eq!(later.await.unwrap().reply().memorized[0].sequence, 5);
    let all = ListUtterancesRequest { include_archive: true, include_forgotten: true, ..Default::default() };
    assert_eq!(sequences_of(&session.list(all).await), [3, 4, 5]);
}

/// What comes after a deletion waits for it, and finds nothing of the old conversation.
#[tokio::test]
async fn a_write_behind_a_deletion_starts_anew() {
    let (session, gate) = gated().await;
    let conversation_id = session.say(vec![user("stored")]).await.conversation_id;
    let deleted = start_deletion(&session, &gate, &conversation_id).await;
    let by_id = MemorizeRequest { conversation_id: conversation_id.clone(), ..memorize(vec![user("by id")]) };
    let calls = [start(&session, by_id), start(&session, memorize(vec![user("by recipient")]))];
    let get = GetCapacityInfoRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    for _ in 0..10 {
        session.memory().get_capacity_info(get.clone()).await.reply();
    }
    assert_eq!(gate.held(), 1, "nothing is decided on what is being deleted");
    gate.open();
    assert_eq!(deleted.await.unwrap().reply().utterance_count, Some(1));
    let mut started = Vec::new();
    for call in calls {
        let response = call.await.unwrap().reply();
        assert!(response.started_conversation && response.revision == 1);
        started.push(response.conversation_id == conversation_id);
    }
    assert_eq!(started, [true, false]);
    assert_eq!(session.window().await[0].content, "by recipient");
}
