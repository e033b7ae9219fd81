//! A slow or failing store: what is visible, to whom, and when.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::task::JoinHandle;
use tonic::{Code, Request};
use utterd::proto::{
    ConversationStatus, CreateConversationRequest, DeleteConversationRequest, DeleteConversationResponse,
    EndConversationRequest, ForgetMode, GetCapacityInfoRequest, GetConversationRequest,
    ListUtterancesRequest, MemorizeRequest, MemorizeResponse, NewUtterance, WatchEventsRequest,
    memory_service_server::MemoryService, watch_events_response::Message,
};

use crate::support::{
    gate::Gate,
    refusal::Refused,
    session::{Reply, Session, forget, memorize, sequences, sequences_of, settle, user},
};

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

/// Events are published in the order of revisions, however the flushes end.
#[tokio::test]
async fn events_follow_the_order_of_changes() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    assert!(matches!(events.message().await.unwrap().unwrap().message, Some(Message::Started(_))));
    gate.shut();
    let calls = start_many(&session, 10).await;
    gate.release(1);
    gate.open();
    for call in calls {
        call.await.unwrap().reply();
    }
    for revision in 2..=11 {
        let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else {
            panic!("no event")
        };
        assert_eq!(event.revision, Some(revision));
    }
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

/// What waits for a failing commit is decided on what is stored; nothing is lost or stored twice.
#[tokio::test]
async fn what_waits_behind_a_failure_is_decided_on_what_is_stored() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let calls = start_many(&session, 10).await;
    gate.fail(1);
    gate.open();
    let (mut told, mut failed) = (BTreeSet::new(), Vec::new());
    for (number, call) in calls.into_iter().enumerate() {
        match call.await.unwrap() {
            Ok(response) => assert!(told.insert(response.into_inner().memorized[0].sequence)),
            Err(status) => {
                Refused::new(status).is(Code::Unavailable, "STORE_UNAVAILABLE");
                failed.push(number);
            }
        }
    }
    assert_eq!(failed, [0]);
    assert_eq!(told, (2..=10).collect());
    let stored = session.stored().await;
    assert_eq!(sequences_of(&stored), (1..=10).collect::<Vec<_>>());
    assert!(stored.iter().all(|utterance| utterance.content != "waiting 0"));
}

/// A conversation that could not be started does not exist, and can be started later.
#[tokio::test]
async fn a_first_write_that_fails_leaves_nothing() {
    let (session, gate) = gated().await;
    gate.shut();
    let call = start(&session, memorize(vec![user("hello")]));
    gate.holds(1).await;
    assert_eq!(session.capacity().await.conversation_id, "");
    gate.fail(1);
    call.await.unwrap().refusal().is(Code::Unavailable, "STORE_UNAVAILABLE");
    assert_eq!(session.capacity().await.conversation_id, "");
    gate.open();
    let response = session.say(vec![user("hello")]).await;
    assert!(response.started_conversation && response.revision == 1);
}

/// First writers that wait at the same time start one conversation.
#[tokio::test]
async fn first_writers_in_flight_start_one_conversation() {
    let (session, gate) = gated().await;
    gate.shut();
    let mut calls = Vec::new();
    for number in 1..=5 {
        calls.push(start(&session, memorize(vec![user("first")])));
        gate.holds(number).await;
    }
    gate.open();
    let (mut conversations, mut started) = (BTreeSet::new(), 0);
    for call in calls {
        let response = call.await.unwrap().reply();
        conversations.insert(response.conversation_id);
        started += usize::from(response.started_conversation);
    }
    assert_eq!((conversations.len(), started), (1, 1));
    assert_eq!(sequences_of(&session.window().await), [1, 2, 3, 4, 5]);
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

/// Of duplicates that wait at the same time, one is stored, and the others are replayed.
#[tokio::test]
async fn duplicates_in_flight_store_one() {
    let (session, gate) = gated().await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("once")]) };
    let mut calls = Vec::new();
    for _ in 1..=3 {
        calls.push(start(&session, request.clone()));
        settle().await;
    }
    gate.open();
    let mut replayed = Vec::new();
    for call in calls {
        let response = call.await.unwrap().reply();
        assert_eq!((response.revision, response.memorized[0].sequence), (2, 2));
        replayed.push(response.replayed);
    }
    assert_eq!(replayed, [false, true, true]);
    assert_eq!(session.window().await.len(), 2);
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

/// The same for a created conversation.
#[tokio::test]
async fn a_replayed_creation_has_its_conversation() {
    let (session, gate) = gated().await;
    gate.shut();
    let request = CreateConversationRequest {
        conversation_id: "trip".to_owned(),
        request_id: "r".to_owned(),
        ..Default::default()
    };
    let create = || {
        let (mut conversations, request) = (session.conversations(), request.clone());
        tokio::spawn(async move { conversations.create_conversation(request).await })
    };
    let first = create();
    gate.holds(1).await;
    let answer = gate.take_effect();
    let duplicate = create();
    settle().await;
    answer();
    let (first, duplicate) = (first.await.unwrap().reply(), duplicate.await.unwrap().reply());
    assert!(duplicate.replayed && duplicate.conversation.is_some());
    assert_eq!(duplicate.conversation, first.conversation);
}

/// The removal of a conversation does not trust what was decided on a failed change.
#[tokio::test]
async fn an_end_behind_a_failure_ends_what_is_stored() {
    let (session, gate) = gated().await;
    let conversation_id = session.say(vec![user("stored")]).await.conversation_id;
    gate.shut();
    let call = start(&session, memorize(vec![user("lost")]));
    gate.holds(1).await;
    gate.fail(1);
    call.await.unwrap().refusal().is(Code::Unavailable, "STORE_UNAVAILABLE");
    gate.open();
    let end = EndConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    let ended = session.conversations().end_conversation(end).await.reply().conversation.unwrap();
    assert_eq!((ended.revision, ended.status()), (2, ConversationStatus::Closed));
    let get = GetConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    let read = session.conversations().get_conversation(get).await.reply().conversation.unwrap();
    assert_eq!((read.revision, read.status()), (2, ConversationStatus::Closed));
    let next = session.say(vec![user("next")]).await;
    assert!(next.started_conversation && next.conversation_id != conversation_id);
}

/// A failed attempt does not count: its id is free.
#[tokio::test]
async fn a_failed_attempt_may_be_repeated() {
    let (session, gate) = gated().await;
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("hello")]) };
    gate.shut();
    let call = start(&session, request.clone());
    gate.holds(1).await;
    gate.fail(1);
    call.await.unwrap().refusal().is(Code::Unavailable, "STORE_UNAVAILABLE");
    gate.open();
    assert!(!session.memory().memorize(request.clone()).await.reply().replayed);
    assert!(session.memory().memorize(request).await.reply().replayed);
    assert_eq!(session.window().await.len(), 1);
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

#[tokio::test]
async fn a_deletion_is_seen_after_its_flush() {
    let (session, gate) = gated().await;
    let conversation_id = session.say(vec![user("stored")]).await.conversation_id;
    let deleted = start_deletion(&session, &gate, &conversation_id).await;
    let get = GetCapacityInfoRequest { conversation_id, ..Default::default() };
    session.memory().get_capacity_info(get.clone()).await.reply();
    gate.open();
    assert_eq!(deleted.await.unwrap().reply().utterance_count, Some(1));
    session.memory().get_capacity_info(get).await.refusal().is(Code::NotFound, "CONVERSATION_NOT_FOUND");
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

/// A failed deletion has deleted nothing.
#[tokio::test]
async fn a_deletion_that_fails_changes_nothing() {
    let (session, gate) = gated().await;
    let conversation_id = session.say(vec![user("stored")]).await.conversation_id;
    let deleted = start_deletion(&session, &gate, &conversation_id).await;
    let call = start(&session, memorize(vec![user("behind")]));
    gate.fail(1);
    deleted.await.unwrap().refusal().is(Code::Unavailable, "STORE_UNAVAILABLE");
    gate.open();
    assert_eq!(call.await.unwrap().reply().memorized[0].sequence, 2);
    assert_eq!(sequences_of(&session.window().await), [1, 2]);
}

/// What is on its way to the archive is found there by what waits behind it.
#[tokio::test]
async fn what_leaves_the_window_is_known_before_its_flush() {
    let (session, gate) = gated().await;
    let named =
        |id: &str| NewUtterance { utterance_id: id.to_owned(), ..user(&format!("it is called {id}")) };
    for number in 1..=20 {
        session.say(vec![named(&format!("u{number}"))]).await;
    }
    gate.shut();
    let evicting = start(&session, memorize(vec![named("u21")]));
    gate.holds(1).await;
    let again = start(&session, memorize(vec![named("u1")]));
    settle().await;
    gate.open();
    assert_eq!(sequences(&evicting.await.unwrap().reply().evicted)[0], 1);
    again.await.unwrap().refusal().is(Code::AlreadyExists, "UTTERANCE_EXISTS");
    gate.shut();
    let mut memory = session.memory();
    let erased = tokio::spawn(async move { memory.forget(forget("id:u1", ForgetMode::Hard)).await });
    gate.holds(1).await;
    let anew = start(&session, memorize(vec![named("u1")]));
    settle().await;
    gate.open();
    assert_eq!(erased.await.unwrap().reply().forgotten[0].sequence, 1);
    assert_eq!(anew.await.unwrap().reply().memorized[0].sequence, 22);
    assert_eq!(sequences_of(&session.stored().await), (2..=22).collect::<Vec<_>>());
}
