//! Watches on one engine of what the other does.

use futures::StreamExt;
use tonic::Request;
use utterd::{
    proto::{
        Capacity, DeleteConversationRequest, WatchCapacityRequest,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
    },
    rpc::Services,
};

use super::{
    calls::{Reply, end, reason, say, says_in, says_to},
    pair::Pair,
};

/// Changes per case: more than hints can wait.
const CHANGES: i64 = 50;

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
