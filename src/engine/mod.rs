//! The engine: loads what the rules need, commits what they decide, publishes it.
//!
//! One order of changes for each conversation. A decision is made on the newest *pending*
//! state, so that changes which wait for the store share its flush; a state is published, and
//! its event goes out, only after its commit has succeeded.

mod address;
mod aside;
mod background;
mod clock;
mod compact;
mod context;
mod conversations;
mod end;
mod erase;
mod error;
mod events;
mod export;
mod footprint;
mod forget;
mod fork;
mod import;
mod index;
mod lane;
mod lanes;
mod line;
pub mod llm;
mod memorize;
mod recipient;
mod remember;
mod request;
mod restore;
mod retelling;
mod sessions;
mod settle;
mod several;
mod share;
mod stats;
mod stored;
mod summarize;
mod unflushed;
mod update;
mod utterances;
mod watch;
mod write;

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

pub use address::{Address, Caller};
pub use aside::{COUNT_ASIDE_BYTES, aside};
pub use clock::{Clock, SystemClock};
pub use compact::{AnswerCall, AnswerReply, CompactCall, CompactReply, UndoCall, UndoReply};
pub use context::{BuildContextCall, BuildContextReply, Recall};
pub use conversations::{ConversationPage, CreateCall, ListConversations};
pub use end::{EndCall, EndReply};
pub use error::EngineError;
pub use events::{
    Effects, Event, EventCursor, EventFacts, EventLog, EventStream, Operation, Subject, Watched,
};
pub use export::Exported;
pub use forget::{ForgetCall, ForgetReply};
pub use fork::{ForkCall, ForkReply};
pub use import::{ImportCall, ImportReply, Incoming, name};
pub use line::MemorizeLine;
pub use memorize::{MemorizeCall, MemorizeReply};
pub use recipient::RecipientRemoval;
pub use remember::{Filter, Found, Order, RememberCall, RememberReply, Scope};
pub use request::Attempt;
pub use restore::{RestoreCall, RestoreReply};
pub use retelling::{LlmStanding, Waited};
pub use share::{ShareCall, ShareReply, SharedPage};
pub use stats::{StatsCall, StatsReply};
pub use stored::References;
pub use summarize::{Patience, SummarizeCall, SummarizeReply, SummarizeScope};
pub use update::{Edit, UpdateCall, UpdateReply, UpdateUtteranceCall, UpdateUtteranceReply};
pub use utterances::{ListUtterances, UtterancePage};
pub use watch::CapacityWatch;
pub use write::Applied;

/// What [`EngineError::Store`] holds, for those above who never see a store.
pub use crate::store::StoreError;

use crate::{
    domain::{Conversation, ConversationKey, Encoding, Policy, TokenCounter},
    store::{BoxFuture, Store},
};
use index::Indexes;
use lane::{Lane, Pending};
use lanes::Lanes;
use retelling::Llm;
use sessions::Sessions;

/// Gives the counter of an encoding.
pub type Counters = fn(Encoding) -> &'static dyn TokenCounter;

/// What a new conversation starts with, and what the server's clock decides.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// Limits of a conversation that is not given its own.
    pub policy: Policy,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// Idle for so long, a conversation is idle.
    pub idle_timeout: Duration,
    /// Ended conversations of a recipient that are kept; 0 keeps all.
    pub max_conversations_retained: usize,
    /// Events kept for each namespace.
    pub event_capacity: usize,
    /// Bytes that conversations may take in memory when nobody uses them.
    pub cache_bytes: u64,
}

/// Serves every operation on conversations. Cheap to share behind an [`Arc`].
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    counters: Counters,
    defaults: Defaults,
    lanes: Arc<Lanes>,
    /// Numbers the states that were loaded: see [`Pending::chain`].
    chains: AtomicU64,
    indexes: Indexes,
    events: Arc<EventLog>,
    sessions: Sessions,
    llm: Option<Arc<Llm>>,
}

impl Engine {
    /// An engine over `store`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, counters: Counters, defaults: Defaults) -> Self {
        let events = Arc::new(EventLog::new(clock.clone(), defaults.event_capacity));
        Self {
            store,
            clock,
            counters,
            lanes: Arc::new(Lanes::new(defaults.cache_bytes)),
            chains: AtomicU64::new(1),
            defaults,
            indexes: Indexes::default(),
            events,
            sessions: Sessions::default(),
            llm: None,
        }
    }

    /// What conversations start with.
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// The time by the server's clock.
    pub fn now(&self) -> crate::domain::Timestamp {
        self.clock.now()
    }

    /// Counts in `encoding`.
    pub fn counter(&self, encoding: Encoding) -> &'static dyn TokenCounter {
        (self.counters)(encoding)
    }

    /// Waits until the store takes no more writes, and tells why.
    pub fn failed(&self) -> BoxFuture<'static, StoreError> {
        self.store.failed()
    }

    /// What happened.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// The published state of a conversation; loads it when it is not in memory.
    pub(crate) async fn published(
        &self,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        if let Some(state) = self.lanes.get(key).and_then(|lane| lane.published()) {
            return Ok(Some(state));
        }
        loop {
            let lane = self.lanes.lane(key);
            let mut pending = lane.pending.lock().await;
            if pending.removed {
                continue;
            }
            let loaded = self.load(&lane, &mut pending).await;
            self.let_go(&lane, &mut pending);
            loaded?;
            return Ok(lane.published());
        }
    }

    /// Publishes what the store has, unless something is published. What waits for its flush is
    /// not waited for: until then there is nothing to be seen.
    async fn load(&self, lane: &Lane, pending: &mut Pending) -> Result<(), EngineError> {
        if !pending.removed && !lane.is_published() && !lane.is_waiting() {
            self.newest_state(lane, pending).await?;
        }
        Ok(())
    }
}
