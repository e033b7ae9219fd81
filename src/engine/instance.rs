//! The engine itself: its parts, and what it is made with.

use std::sync::Arc;

use crate::{
    domain::{Encoding, Now, Policy, Timestamp, TokenCounter, conversation::Timeouts},
    engine::{
        Clock, EventLog, embedding::Embeddings, index::Indexes, last_active::LastActive, llm::Llm,
        pointers::Pointers, queues::Queues, retention::Retention, sessions::Sessions, time::Time,
    },
    store::{BackupRefused, BoxStream, Store, StoreError},
};

/// Gives the counter of an encoding.
pub type Counters = fn(Encoding) -> &'static dyn TokenCounter;

/// What a new conversation starts with, and what the server's clock decides.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// Limits of a conversation that is not given its own.
    pub policy: Policy,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// When a conversation is idle, and an awaited answer stale.
    pub timeouts: Timeouts,
    /// Ended conversations of a recipient that are kept; 0 keeps all.
    pub max_conversations_retained: usize,
    /// Events kept for each namespace; all together take so many KiB at most.
    pub event_capacity: usize,
    /// Bytes that conversations may take in memory when nobody uses them. A store that keeps its states in
    /// memory anyway is not bound by it: see [`Capabilities::resident`](crate::store::Capabilities::resident).
    pub cache_bytes: u64,
    /// Bytes that the indexes of the conversations searched lately take.
    pub index_bytes: u64,
}

/// Serves every operation on conversations, behind an [`Arc`].
pub struct Engine {
    pub(super) store: Arc<dyn Store>,
    /// Whether other processes use the store too: then nothing is answered from memory alone.
    pub(super) is_shared: bool,
    /// Where they do.
    pub(super) last_active: Option<LastActive>,
    pub(super) clock: Time,
    pub(super) counters: Counters,
    pub(super) defaults: Defaults,
    pub(super) queues: Queues,
    pub(super) pointers: Arc<Pointers>,
    pub(super) indexes: Indexes,
    pub(super) events: Arc<EventLog>,
    pub(super) sessions: Sessions,
    pub(super) retention: Retention,
    pub(super) llm: Option<Arc<Llm>>,
    pub(super) embeddings: Option<Arc<Embeddings>>,
}

impl Engine {
    /// An engine over `store`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, counters: Counters, defaults: Defaults) -> Self {
        let events = Arc::new(EventLog::new(clock.clone(), defaults.event_capacity));
        let capabilities = store.capabilities();
        let cache_bytes = if capabilities.resident { u64::MAX } else { defaults.cache_bytes };
        Self {
            store,
            is_shared: capabilities.shared,
            last_active: capabilities.shared.then(LastActive::new),
            clock: Time::new(clock),
            counters,
            queues: Queues::new(cache_bytes),
            pointers: Arc::default(),
            indexes: Indexes::new(defaults.index_bytes),
            defaults,
            events,
            sessions: Sessions::default(),
            retention: Retention::default(),
            llm: None,
            embeddings: None,
        }
    }

    /// What conversations start with.
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Whether what is stored survives the end of the process.
    pub fn is_durable(&self) -> bool {
        self.store.capabilities().durable
    }

    /// The time by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The same, and since when the clock has only gone on.
    pub fn moment(&self) -> Now {
        self.clock.moment()
    }

    /// Counts in `encoding`.
    pub fn counter(&self, encoding: Encoding) -> &'static dyn TokenCounter {
        (self.counters)(encoding)
    }

    /// Whether the store takes writes: see [`Store::condition`].
    pub fn condition(&self) -> BoxStream<'static, Result<(), StoreError>> {
        self.store.condition()
    }

    /// Whether more waits to be written than the store can keep up with: see [`Store::is_behind`].
    pub fn is_store_behind(&self) -> bool {
        self.store.is_behind()
    }

    /// Begins a backup of everything stored: see [`Store::backup`].
    pub fn backup(&self) -> Result<BoxStream<'static, Result<Vec<u8>, StoreError>>, BackupRefused> {
        self.store.backup()
    }

    /// What happened.
    pub fn events(&self) -> &EventLog {
        &self.events
    }
}
