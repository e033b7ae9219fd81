//! The engine itself: its parts, and its settings.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Semaphore, watch};

use crate::{
    Clock,
    events::event_log::EventLog,
    lane::queues::Queues,
    meters::Meters,
    models::{embedding::Embeddings, llm::Llm},
    search::index::Indexes,
    sessions::Sessions,
    shared::{last_active::LastActive, pointers::Pointers},
    time::Time,
    write::retention::Retention,
};
use utterd_domain::{
    Encoding, Now, Policy, Timestamp, TokenCounter, conversation::Timeouts, limits::BACKUP_PATIENCE,
};
use utterd_store::{BoxStream, Store, StoreError};
use utterd_telemetry::Registry;

/// Returns the counter of an encoding.
pub type Counters = fn(Encoding) -> &'static dyn TokenCounter;

/// The defaults of new conversations, and the engine's settings.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The policy of a conversation created without one.
    pub policy: Policy,
    /// The encoding in which tokens are counted.
    pub encoding: Encoding,
    /// How long until a conversation counts as idle, and an awaited answer as stale.
    pub timeouts: Timeouts,
    /// Ended conversations kept per recipient; 0 keeps all.
    pub max_conversations_retained: usize,
    /// Events kept per namespace. The events of all namespaces together take at most this many KiB, or 1 MiB
    /// if that is more.
    pub event_capacity: usize,
    /// Bytes of memory for conversations that nobody is using. Does not limit a store that keeps its states
    /// in memory anyway: see [`Capabilities::resident`](utterd_store::Capabilities::resident).
    pub cache_bytes: u64,
    /// Bytes of memory for the indexes of recently searched conversations.
    pub index_bytes: u64,
}

/// Serves every operation on conversations. Used behind an [`Arc`].
pub struct Engine {
    pub(super) store: Arc<dyn Store>,
    /// Set if other processes use the store too. If so, nothing is answered from memory alone, unless the
    /// caller accepts a stale answer.
    pub(super) last_active: Option<LastActive>,
    pub(super) clock: Time,
    pub(super) counters: Counters,
    pub(super) defaults: Defaults,
    pub(super) queues: Queues,
    pub(super) pointers: Arc<Pointers>,
    /// Tells the watchers that hints of changes by other processes may have been missed.
    pub(super) missed: watch::Sender<()>,
    pub(super) indexes: Indexes,
    pub(super) events: Arc<EventLog>,
    pub(super) meters: Arc<Meters>,
    pub(super) sessions: Sessions,
    pub(super) retention: Retention,
    /// Held while a backup is made.
    backup_turn: Arc<Semaphore>,
    pub(super) llm: Option<Arc<Llm>>,
    pub(super) embeddings: Option<Arc<Embeddings>>,
}

impl Engine {
    /// Creates an engine over `store`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, counters: Counters, defaults: Defaults) -> Self {
        let (capabilities, meters) = (store.capabilities(), Meters::new());
        let log = EventLog::new(clock.clone(), meters.clone(), defaults.event_capacity, capabilities.traced);
        let cache_bytes = if capabilities.resident { u64::MAX } else { defaults.cache_bytes };
        Self {
            store,
            last_active: capabilities.shared.then(LastActive::new),
            clock: Time::new(clock),
            counters,
            queues: Queues::new(cache_bytes),
            pointers: Arc::default(),
            missed: watch::Sender::new(()),
            indexes: Indexes::new(defaults.index_bytes),
            defaults,
            events: Arc::new(log),
            meters,
            sessions: Sessions::default(),
            retention: Retention::default(),
            backup_turn: Arc::new(Semaphore::new(1)),
            llm: None,
            embeddings: None,
        }
    }

    /// Adds the metrics of the engine, of its store and of its models to those of a server.
    pub fn describe(self: &Arc<Self>, registry: &Registry) {
        self.meters.register(registry);
        self.describe_llm(registry);
        self.describe_embedding(registry);
        self.describe_cache(registry);
        self.store.describe(registry);
    }

    fn describe_cache(self: &Arc<Self>, registry: &Registry) {
        let engine = self.clone();
        registry.gauge("utterd_conversations_cached", "Conversations in memory.", move || {
            engine.queues.size().0 as f64
        });
        let engine = self.clone();
        registry.gauge(
            "utterd_cache_bytes",
            "Memory that conversations take, in bytes; an estimate.",
            move || engine.queues.size().1 as f64,
        );
        let engine = self.clone();
        registry.gauge(
            "utterd_store_behind",
            "1 while more writes wait than the store can keep up with.",
            move || f64::from(u8::from(engine.is_store_behind())),
        );
    }

    /// Returns the defaults of new conversations.
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Returns the name of the store.
    pub fn store_name(&self) -> &'static str {
        self.store.capabilities().name
    }

    /// Whether stored data survives the end of the process.
    pub fn is_durable(&self) -> bool {
        self.store.capabilities().durable
    }

    /// Returns the current time by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the current time, and the time since which the clock has only moved forward.
    pub fn moment(&self) -> Now {
        self.clock.moment()
    }

    /// Returns the time to record for a request that is about to be sent to the store; `None` if only this
    /// process writes to the store, so that nothing has to be confirmed.
    pub(super) fn asking(&self) -> Option<Duration> {
        self.is_shared().then(|| self.clock.elapsed())
    }

    /// Whether other processes use the store too.
    pub(super) fn is_shared(&self) -> bool {
        self.last_active.is_some()
    }

    /// Returns the counter of `encoding`.
    pub fn counter(&self, encoding: Encoding) -> &'static dyn TokenCounter {
        (self.counters)(encoding)
    }

    /// Reports whether the store accepts writes: see [`Upkeep::condition`](utterd_store::Upkeep::condition).
    pub fn condition(&self) -> BoxStream<'static, Result<(), StoreError>> {
        self.store.condition()
    }

    /// Whether more writes are waiting than the store can keep up with: see
    /// [`Upkeep::is_behind`](utterd_store::Upkeep::is_behind).
    pub fn is_store_behind(&self) -> bool {
        self.store.is_behind()
    }

    /// Starts a backup of everything stored: see `Store::backup`. One at a time; it ends if its reader takes nothing
    /// for [`BACKUP_PATIENCE`].
    pub fn backup(&self) -> Result<BoxStream<'static, Result<Vec<u8>, StoreError>>, BackupUnderWay> {
        let turn = self.backup_turn.clone().try_acquire_owned().map_err(|_| BackupUnderWay)?;
        Ok(self.store.clone().backup(turn, BACKUP_PATIENCE))
    }
}

/// Another backup is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a backup is running, and only one can run at a time; try again when it has ended")]
pub struct BackupUnderWay;
