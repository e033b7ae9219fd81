//! Test helpers: an engine in memory, and a call for it.

mod queues;
mod retained;
mod run;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{Address, Clock, Defaults, Engine, MemorizeCall};
use utterd_domain::{
    Draft, Encoding, More, Policy, Revision, Role, Timestamp, TokenCounter, conversation::Timeouts,
};
use utterd_store::MemoryStore;

/// An engine over `store` that caches at most `cache_bytes` of conversations.
fn engine(store: MemoryStore, policy: Policy, cache_bytes: u64) -> Arc<Engine> {
    let defaults = Defaults {
        max_conversations_retained: 0,
        policy,
        encoding: Encoding::O200kBase,
        timeouts: Timeouts { idle: Duration::from_secs(60), ..Timeouts::default() },
        event_capacity: 100,
        cache_bytes,
        index_bytes: 64 << 20,
    };
    let clock = Arc::new(Ticks(AtomicU64::new(1)));
    Arc::new(Engine::new(Arc::new(store), clock, |_| &Characters, defaults))
}

/// A call that stores one more utterance.
fn saying(address: Address, expected: Option<Revision>) -> MemorizeCall {
    MemorizeCall {
        address,
        drafts: vec![Draft::of(Role::User, "hello", More::default())],
        expected,
        ..MemorizeCall::default()
    }
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
