//! Watches on one engine of what the other does.

use futures::StreamExt;
use tonic::Request;
use utterd::{
    proto::{
        Capacity, DeleteConversationRequest, WatchCapacityRequest, WatchEventsRequest,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
        trace_service_server::TraceService, watch_events_response::Message,
    },
    rpc::Services,
    store::Store as _,
};

use super::{
    calls::{Reply, end, reason, say, says_in, says_to},
    pair::Pair,
};

/// Changes per case: more than hints can wait.
const CHANGES: i64 = 50;

type Trace = <Services as TraceService>::WatchEventsStream;
type Watch = <Services as MemoryService>::WatchCapacityStream;

async fn watch(at: &Services) -> Watch {
    let request = WatchCapacityRequest { conversation_id: "c".to_owned(), ..Default::default() };
    at.watch_capacity(Request::new(request)).await.expect("the conversation is there").into_inner()
}

async fn next(watch: &mut Watch) -> Capacity {
    let seen = watch.next().await.expect("the watch goes on").expect("the conversation is there");
    seen.capacity.expect("a capacity")
}

/// Waits until the watch sees `revision`; each revision it sees must be newer than the previous one.
async fn until(watch: &mut Watch, revision: i64) {
    let mut seen = 0;
    while seen < revision {
        let capacity = next(watch).await;
        assert!(capacity.revision > seen && capacity.revision <= revision, "{capacity:?} behind {seen}");
        assert_eq!(capacity.utterance_count, Some(capacity.revision as i32));
        seen = capacity.revision;
    }
}

pub async fn a_watch_sees_what_the_other_does(pair: &Pair) {
    say(&pair.one, says_in("c", "1")).await;
    let mut watches = [watch(&pair.one).await, watch(&pair.other).await];
    for number in 2..=CHANGES {
        for watch in &mut watches {
            assert_eq!(next(watch).await.revision, number - 1);
        }
        say(pair.at(number as usize), says_in("c", &number.to_string())).await;
    }
}

/// Opens the trace behind an event, or from now on; returns it with the place where it starts.
async fn trace(at: &Services, after_event: &str) -> (Trace, String) {
    let request = WatchEventsRequest { after_event: after_event.to_owned(), ..Default::default() };
    let mut trace = at.watch_events(Request::new(request)).await.expect("events are kept").into_inner();
    match trace.next().await.expect("it starts").expect("it starts").message {
        Some(Message::Started(started)) => (trace, started.event_id),
        other => panic!("it starts with {other:?}"),
    }
}

/// The next events of a trace: their ids, conversations and revisions.
async fn traced(trace: &mut Trace, count: usize) -> Vec<(String, String, i64)> {
    let mut events = Vec::new();
    while events.len() < count {
        match trace.next().await.expect("it goes on").expect("it goes on").message {
            Some(Message::Event(event)) => {
                events.push((event.event_id, event.conversation_id, event.revision.unwrap_or(0)));
            }
            other => panic!("it goes on with {other:?}"),
        }
    }
    events
}

/// Each server streams the same changes in the same order, and continues behind an event that another one
/// streamed; a store that keeps no events leaves each server its own.
pub async fn a_trace_has_what_both_do(pair: &Pair) {
    if !pair.store.capabilities().traced {
        say(&pair.other, says_in("c", "unseen")).await;
        let (mut own, _) = trace(&pair.one, "").await;
        say(&pair.other, says_in("c", "unseen")).await;
        say(&pair.one, says_in("c", "seen")).await;
        assert_eq!(traced(&mut own, 1).await[0].2, 3);
        return;
    }
    let (mut one, start) = trace(&pair.one, "").await;
    let (mut other, _) = trace(&pair.other, &start).await;
    for number in 0..CHANGES {
        let id = if number % 3 == 0 { "a" } else { "b" };
        say(pair.at(number as usize), says_in(id, &number.to_string())).await;
    }
    let all = traced(&mut one, CHANGES as usize).await;
    assert_eq!(traced(&mut other, CHANGES as usize).await, all);
    for id in ["a", "b"] {
        let revisions: Vec<_> = all.iter().filter(|event| event.1 == id).map(|event| event.2).collect();
        assert_eq!(revisions, (1..=revisions.len() as i64).collect::<Vec<_>>(), "{id}");
    }
    let half = CHANGES as usize / 2;
    let (mut rest, _) = trace(&pair.other, &all[half - 1].0).await;
    assert_eq!(traced(&mut rest, CHANGES as usize - half).await, all[half..]);
}

/// Whichever part of a watch's start a change falls into.
pub async fn a_watch_sees_what_was_done_while_it_began(pair: &Pair) {
    say(&pair.one, says_in("c", "1")).await;
    for number in 2..=CHANGES {
        let writes = pair.at(number as usize).clone();
        let written = tokio::spawn(async move {
            say(&writes, says_in("c", &number.to_string())).await;
        });
        let mut watch = watch(pair.at(number as usize + 1)).await;
        until(&mut watch, number).await;
        written.await.expect("the call ends");
    }
}

pub async fn a_watch_that_heard_nothing_sees_the_newest(pair: &Pair) {
    say(&pair.one, says_in("c", "1")).await;
    let mut watch = watch(&pair.other).await;
    assert_eq!(next(&mut watch).await.revision, 1);
    pair.others.set_deaf(true);
    for number in 2..=CHANGES {
        say(&pair.one, says_in("c", &number.to_string())).await;
    }
    pair.others.set_deaf(false);
    until(&mut watch, CHANGES).await;
}

pub async fn a_watch_ends_with_a_deletion_by_the_other(pair: &Pair) {
    say(&pair.one, says_in("c", "1")).await;
    let mut watch = watch(&pair.other).await;
    assert_eq!(next(&mut watch).await.revision, 1);
    let request = DeleteConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    pair.one.delete_conversation(Request::new(request)).await.reply();
    // another conversation of this id is not the one that is watched
    say(&pair.one, says_in("c", "2")).await;
    let over = watch.next().await.expect("it is told why").expect_err("the conversation is gone");
    assert_eq!(reason(&over), "CONVERSATION_NOT_FOUND");
}

/// A watch of a recipient sees its first conversation, and each later one, whoever starts it.
pub async fn a_watch_follows_what_the_other_starts(pair: &Pair) {
    let request = || WatchCapacityRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    let mut watches = Vec::new();
    for at in [&pair.one, &pair.other] {
        let watch = at.watch_capacity(Request::new(request())).await.expect("nothing is needed for it");
        watches.push(watch.into_inner());
    }
    for round in 0..4 {
        for watch in &mut watches {
            assert_eq!(next(watch).await.revision, 0);
        }
        let started = say(pair.at(round), says_to("ann", "hello")).await.conversation_id;
        for watch in &mut watches {
            let capacity = next(watch).await;
            assert_eq!((capacity.conversation_id, capacity.revision), (started.clone(), 1));
        }
        end(pair.at(round + 1), &started).await;
    }
}
