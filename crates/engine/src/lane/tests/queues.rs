//! Which queues are kept in memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{
    Address, Caller, Engine, EngineError,
    lane::{
        queue::{QUEUE_BYTES, footprint},
        queues::Queues,
        tests::{self, saying},
    },
};
use utterd_domain::{Conversation, ConversationId, ConversationKey, Identity, Namespace, Policy, Revision};
use utterd_store::{MemoryStore, StoreError};

const LIMIT: u64 = 64 * QUEUE_BYTES;

fn key(number: usize) -> ConversationKey {
    ConversationKey {
        namespace: Namespace::default(),
        id: ConversationId::new(&format!("c{number}")).unwrap(),
    }
}

#[test]
fn queues_that_nobody_uses_are_given_up() {
    let queues = Queues::new(LIMIT);
    for number in 0..1_000 {
        assert!(queues.get(&key(number)).is_none());
        queues.of(&key(number));
        assert!(queues.get(&key(number)).is_some());
        assert!(queues.size().1 <= LIMIT);
    }
    assert_eq!(queues.size().0, 64);
}

#[test]
fn queues_in_use_stay() {
    let queues = Queues::new(LIMIT);
    let used: Vec<_> = (0..100).map(|number| queues.of(&key(number))).collect();
    (100..1_000).for_each(|number| drop(queues.of(&key(number))));
    for (number, queue) in used.iter().enumerate() {
        assert!(Arc::ptr_eq(queue, &queues.of(&key(number))));
    }
    drop(used);
    queues.of(&key(1_000));
    assert!(queues.size().1 <= LIMIT);
}

#[test]
fn what_grows_is_charged_and_what_shrinks() {
    let queues = Queues::new(LIMIT);
    (0..64).for_each(|number| drop(queues.of(&key(number))));
    let queue = queues.of(&key(0));
    let state = state(&key(0));
    let small = footprint(&state);
    queue.publish(Some(state), None);
    queues.charge(&queue);
    assert!(queues.size().1 <= LIMIT);
    assert!(queues.size().0 as u64 <= (LIMIT - small) / QUEUE_BYTES + 1, "others made room");
    let before = queues.size().1;
    queues.charge(&queue);
    assert_eq!(queues.size().1, before, "charged once");
}

/// However queues come and go, two threads that use the queue of a conversation use the same one.
#[test]
fn a_conversation_never_has_two_queues() {
    const KEYS: usize = 32;
    let queues = Queues::new(8 * QUEUE_BYTES);
    let inside: [AtomicUsize; KEYS] = std::array::from_fn(|_| AtomicUsize::new(0));
    let use_queues = |seed: usize| {
        for step in 0..20_000 {
            let number = (step * 7 + seed * 13 + step / 5) % KEYS;
            let queue = queues.of(&key(number));
            let Some(turn) = queue.turn_if_free() else { continue };
            assert_eq!(inside[number].fetch_add(1, Ordering::SeqCst), 0, "two queues are in use");
            thread::yield_now();
            inside[number].fetch_sub(1, Ordering::SeqCst);
            queue.publish(None, None);
            drop(turn);
            queues.discard_unused(&queue);
        }
    };
    thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || use_queues(seed)))));
}

/// No queue is kept for a conversation that could not be started, either.
#[tokio::test]
async fn what_does_not_exist_leaves_no_queue() {
    let (engine, caller) = (full_engine(), Caller::default());
    let address = Address { conversation: Some(key(0).id), ..Address::default() };
    assert!(engine.published(&key(0)).await.unwrap().is_none());
    assert!(engine.read(&caller, &address).await.is_err());
    assert!(engine.delete_conversation(&caller, key(0).id, None).await.is_err());
    let refused = engine.memorize(&caller, saying(address.clone(), Some(Revision(7)))).await;
    assert!(matches!(refused, Err(EngineError::Refused(_))));
    let failed = engine.memorize(&caller, saying(address, None)).await;
    assert!(matches!(failed, Err(EngineError::Store(StoreError::Full { .. }))));
    let nobodys = Address::default();
    assert!(engine.memorize(&caller, saying(nobodys, None)).await.is_err());
    assert_eq!(engine.queues.size().0, 0);
}

fn state(key: &ConversationKey) -> Arc<Conversation> {
    let identity = Identity { key: key.clone(), ..Identity::default() };
    Arc::new(Conversation::new(identity, Policy::ROLLING))
}

/// An engine over a store that has no room.
fn full_engine() -> Arc<Engine> {
    tests::engine(MemoryStore::new(1), Policy::ROLLING, LIMIT)
}
