use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use super::*;
use crate::{
    domain::{
        Conversation, ConversationId, Draft, Encoding, Head, Identity, LineageId, Namespace, Policy, Ranges,
        RecipientId, Revision, Role, Sequence, Timestamp, TokenCounter, Utterance,
    },
    engine::{Address, Caller, Clock, Defaults, Engine, EngineError, MemorizeCall, Operation, events::Event},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, Due, Outcome, OutcomeKey, Page, RecipientKey, Store,
        StoreError,
    },
};

const LIMIT: u64 = 64 * footprint::LANE;

fn key(number: usize) -> ConversationKey {
    ConversationKey {
        namespace: Namespace::default(),
        id: ConversationId::new(&format!("c{number}")).unwrap(),
    }
}

#[test]
fn lanes_that_nobody_holds_are_given_up() {
    let lanes = Lanes::new(LIMIT);
    for number in 0..1_000 {
        assert!(lanes.get(&key(number)).is_none());
        lanes.lane(&key(number));
        assert!(lanes.get(&key(number)).is_some());
        assert!(lanes.cache.weight() <= LIMIT);
    }
    assert_eq!(lanes.cache.len(), 64);
}

#[test]
fn lanes_that_are_held_stay() {
    let lanes = Lanes::new(LIMIT);
    let held: Vec<_> = (0..100).map(|number| lanes.lane(&key(number))).collect();
    (100..1_000).for_each(|number| drop(lanes.lane(&key(number))));
    for (number, lane) in held.iter().enumerate() {
        assert!(Arc::ptr_eq(lane, &lanes.lane(&key(number))));
    }
    drop(held);
    lanes.lane(&key(1_000));
    assert!(lanes.cache.weight() <= LIMIT);
}

#[test]
fn what_grows_is_charged_and_what_shrinks() {
    let lanes = Lanes::new(LIMIT);
    (0..64).for_each(|number| drop(lanes.lane(&key(number))));
    let lane = lanes.lane(&key(0));
    let mut pending = lane.pending.try_lock().unwrap();
    let state = state(&key(0));
    let small = footprint::lane(&state, 0);
    pending.start(1, Some(state));
    lanes.charge(&lane, &mut pending);
    assert!(lanes.cache.weight() <= LIMIT);
    assert!(lanes.cache.len() as u64 <= (LIMIT - small) / footprint::LANE + 1, "others made room");
    let before = lanes.cache.weight();
    lanes.charge(&lane, &mut pending);
    assert_eq!(lanes.cache.weight(), before, "charged once");
}

/// However lanes come and go, those that two threads hold of one conversation are one.
#[test]
fn a_conversation_never_has_two_lanes() {
    const KEYS: usize = 32;
    let lanes = Lanes::new(8 * footprint::LANE);
    let inside: [AtomicUsize; KEYS] = std::array::from_fn(|_| AtomicUsize::new(0));
    let use_lanes = |seed: usize| {
        for step in 0..20_000 {
            let number = (step * 7 + seed * 13 + step / 5) % KEYS;
            let lane = lanes.lane(&key(number));
            let Ok(mut pending) = lane.pending.try_lock() else { continue };
            if pending.removed {
                assert!(!Arc::ptr_eq(&lane, &lanes.lane(&key(number))), "what was removed is gone");
                continue;
            }
            assert_eq!(inside[number].fetch_add(1, Ordering::SeqCst), 0, "two lanes are in use");
            thread::yield_now();
            inside[number].fetch_sub(1, Ordering::SeqCst);
            if step % 3 == 0 {
                lanes.discard_unused(&lane, &mut pending);
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || use_lanes(seed)))));
}

#[tokio::test]
async fn what_does_not_exist_leaves_no_lane() {
    let (engine, caller) = (engine(), Caller::default());
    let address = Address { conversation: Some(key(0).id), recipient: None };
    assert!(engine.published(&key(0)).await.unwrap().is_none());
    assert!(engine.read(&caller, &address).await.is_err());
    assert!(engine.delete_conversation(&caller, key(0).id, None).await.is_err());
    let refused = engine.memorize(&caller, call(address.clone(), Some(Revision(7)))).await;
    assert!(matches!(refused, Err(EngineError::Refused(_))));
    assert_eq!(engine.lanes.cache.len(), 0);
    let failed = engine.memorize(&caller, call(address, None)).await;
    assert!(matches!(failed, Err(EngineError::Store(_))));
    let nobodys = Address { conversation: None, recipient: None };
    assert!(engine.memorize(&caller, call(nobodys, None)).await.is_err());
    assert_eq!(engine.lanes.cache.len(), 0, "nor does a flush that fails");
}

/// A deletion, and what was decided before it, is seen by all who come later.
#[tokio::test]
async fn whoever_loads_waits_for_what_is_in_flight() {
    let engine = engine();
    let lane = engine.lanes.lane(&key(0));
    let mut pending = lane.pending.lock().await;
    pending.start(1, Some(state(&key(0))));
    lane.publish_loaded(pending.state.as_ref());
    let event = Event::removal(Operation::DeleteConversation, &state(&key(0)));
    let crate::engine::settle::Link { ticket, change, .. } = pending.delete(&lane, event);
    lane.wait(ticket, change);
    drop(pending);
    assert!(engine.published(&key(0)).await.unwrap().is_some(), "it is not flushed");
    let loading = async { engine.newest_state(&lane, &mut *lane.pending.lock().await).await };
    let flushing = async {
        tokio::task::yield_now().await;
        assert!(lane.pending.try_lock().is_err(), "the other waits");
        lane.flushed(ticket, engine.events());
    };
    let (loaded, ()) = tokio::join!(loading, flushing);
    assert!(loaded.unwrap().is_none());
    assert!(engine.published(&key(0)).await.unwrap().is_none());
    drop(lane);
    assert_eq!(engine.lanes.cache.len(), 0);
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
    MemorizeCall { address, drafts: vec![draft], attempt: None, expected, lenient: false }
}

fn engine() -> Engine {
    let defaults = Defaults {
        max_conversations_retained: 0,
        policy: Policy::ROLLING,
        encoding: Encoding::O200kBase,
        idle_timeout: Duration::from_secs(60),
        event_capacity: 100,
        cache_bytes: LIMIT,
    };
    Engine::new(Arc::new(Failing), Arc::new(Ticks(AtomicU64::new(1))), |_| &Characters, defaults)
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

/// An empty store, in which every flush fails after a while.
struct Failing;

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Store for Failing {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "failing", durable: false, shared: false }
    }

    fn load<'a>(
        &'a self,
        _: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        ready(Ok(None))
    }

    fn commit(&self, _: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        Box::pin(async {
            tokio::task::yield_now().await;
            Err(StoreError::Unavailable("the disk is gone".to_owned()).into())
        })
    }

    fn archived<'a>(
        &'a self,
        _: &'a ConversationKey,
        _: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn archived_ids<'a>(
        &'a self,
        _: &'a ConversationKey,
        _: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        ready(Ok(HashMap::new()))
    }

    fn sharing<'a>(
        &'a self,
        _: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Vec<(ConversationKey, Sequence)>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn active<'a>(
        &'a self,
        _: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        ready(Ok(None))
    }

    fn conversations<'a>(
        &'a self,
        _: &'a RecipientKey,
        _: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn ended_beyond<'a>(
        &'a self,
        _: &'a RecipientKey,
        _: usize,
        _: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationId>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn outcome<'a>(
        &'a self,
        _: &'a OutcomeKey,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        ready(Ok(None))
    }

    fn due(&self, _: Timestamp, _: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn waiting(
        &self,
        _: Option<(Timestamp, ConversationKey)>,
        _: usize,
    ) -> BoxFuture<'_, Result<Vec<(Timestamp, ConversationKey)>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    fn remove_outcomes(&self, _: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        ready(Ok(0))
    }

    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        ready(Ok(()))
    }
}
