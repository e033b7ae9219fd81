use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use super::*;
use crate::{
    domain::{
        Conversation, ConversationId, Draft, Encoding, Identity, LineageId, Namespace, Policy, RecipientId,
        Revision, Role, Timestamp, TokenCounter, conversation::Timeouts,
    },
    engine::{
        Address, Caller, Clock, Defaults, Engine, EngineError, MemorizeCall,
        lane::{queue::Unqueued, queued::Entry},
    },
    store::{MemoryStore, StoreError},
};

const LIMIT: u64 = 64 * footprint::QUEUE;

fn key(number: usize) -> ConversationKey {
    ConversationKey {
        namespace: Namespace::default(),
        id: ConversationId::new(&format!("c{number}")).unwrap(),
    }
}

/// Holds the queue if it is in use and nobody holds it. Returns whether it did.
fn hold(queue: &Queue) -> Result<bool, Unqueued> {
    Ok(queue.hold_or_wait(Entry::Hold(oneshot::channel().0), usize::MAX)?.is_some())
}

#[test]
fn queues_that_nobody_uses_are_given_up() {
    let queues = Queues::new(LIMIT);
    for number in 0..1_000 {
        assert!(queues.get(&key(number)).is_none());
        queues.of(&key(number));
        assert!(queues.get(&key(number)).is_some());
        assert!(queues.cache.weight() <= LIMIT);
    }
    assert_eq!(queues.cache.len(), 64);
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
    assert!(queues.cache.weight() <= LIMIT);
}

#[test]
fn what_grows_is_charged_and_what_shrinks() {
    let queues = Queues::new(LIMIT);
    (0..64).for_each(|number| drop(queues.of(&key(number))));
    let queue = queues.of(&key(0));
    let state = state(&key(0));
    let small = footprint::queue(&state, 0);
    queue.publish_loaded(Some(state), None);
    queues.charge(&queue);
    assert!(queues.cache.weight() <= LIMIT);
    assert!(queues.cache.len() as u64 <= (LIMIT - small) / footprint::QUEUE + 1, "others made room");
    let before = queues.cache.weight();
    queues.charge(&queue);
    assert_eq!(queues.cache.weight(), before, "charged once");
}

/// However queues come and go, two threads that use the queue of a conversation use the same one.
#[test]
fn a_conversation_never_has_two_queues() {
    const KEYS: usize = 32;
    let queues = Queues::new(8 * footprint::QUEUE);
    let inside: [AtomicUsize; KEYS] = std::array::from_fn(|_| AtomicUsize::new(0));
    let use_queues = |seed: usize| {
        for step in 0..20_000 {
            let number = (step * 7 + seed * 13 + step / 5) % KEYS;
            let queue = queues.of(&key(number));
            let Ok(true) = hold(&queue) else { continue };
            assert_eq!(inside[number].fetch_add(1, Ordering::SeqCst), 0, "two queues are in use");
            thread::yield_now();
            inside[number].fetch_sub(1, Ordering::SeqCst);
            queue.abandon();
            if step % 3 == 0 {
                queues.discard_unused(&queue);
            }
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
    let refused = engine.memorize(&caller, call(address.clone(), Some(Revision(7)))).await;
    assert!(matches!(refused, Err(EngineError::Refused(_))));
    let failed = engine.memorize(&caller, call(address, None)).await;
    assert!(matches!(failed, Err(EngineError::Store(StoreError::Full { .. }))));
    let nobodys = Address::default();
    assert!(engine.memorize(&caller, call(nobodys, None)).await.is_err());
    assert_eq!(engine.queues.cache.len(), 0);
}

fn state(key: &ConversationKey) -> Arc<Conversation> {
    let identity = Identity {
        key: key.clone(),
        recipient: RecipientId::default(),
        lineage: LineageId([1; 16]),
        start_time: Timestamp(0),
        encoding: Encoding::O200kBase,
    };
    Arc::new(Conversation::new(identity, Policy::ROLLING))
}

fn call(address: Address, expected: Option<Revision>) -> MemorizeCall {
    let draft = Draft {
        id: None,
        role: Role::User,
        content: "hello".into(),
        turn: None,
        create_time: None,
        pinned: false,
        more: None,
    };
    MemorizeCall {
        address,
        drafts: vec![draft],
        attempt: None,
        expected,
        lenient: false,
        upsert: false,
        state: None,
        recipient_state: None,
    }
}

/// An engine over a store that has no room.
fn full_engine() -> Arc<Engine> {
    let defaults = Defaults {
        max_conversations_retained: 0,
        policy: Policy::ROLLING,
        encoding: Encoding::O200kBase,
        timeouts: Timeouts { idle: Duration::from_secs(60), ..Timeouts::default() },
        event_capacity: 100,
        cache_bytes: LIMIT,
        index_bytes: 64 << 20,
    };
    let (store, clock) = (Arc::new(MemoryStore::new(1)), Arc::new(Ticks(AtomicU64::new(1))));
    Arc::new(Engine::new(store, clock, |_| &Characters, defaults))
}

struct Characters;

impl TokenCounter for Characters {
    fn count(&self, text: &str) -> u32 {
        text.len() as u32
    }
}

struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp(1)
    }

    fn unique(&self) -> u128 {
        self.0.fetch_add(1, Ordering::Relaxed).into()
    }
}
