//! One conversation in memory: its queue, and its published state.

use std::{
    mem,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use crate::{
    EngineError, Result,
    lane::{
        confirmed::Confirmed,
        queued::{QueuedWrite, Writes},
    },
};
use utterd_domain::{Conversation, ConversationKey, compaction::Compaction};

/// A conversation as seen by this process.
///
/// At most one at a time holds it: the run of its queue, which decides and commits the waiting writes, or work
/// that changes several conversations together. Only the holder changes the published state.
pub struct Queue {
    pub key: ConversationKey,
    turn: Arc<AsyncMutex<()>>,
    waiting: Mutex<WaitingWrites>,
    /// The bytes that the cache charges for the conversation.
    charged: AtomicU64,
    /// Locked only to copy or replace a pointer: a reader never waits for a decision or a commit.
    published: RwLock<Confirmed<Published>>,
    changed: OnceLock<watch::Sender<()>>,
    /// For how many more commits other processes are expected to write too.
    contended: AtomicU32,
}

/// After a commit that another process was faster than, the number of commits for which the store is asked for
/// the newest state first.
const CONTENDED: u32 = 16;

/// The writes that no run has taken yet.
struct WaitingWrites {
    writes: Writes,
    /// When this many writes wait, those whose callers are gone are swept.
    sweep_at: usize,
    /// Whether there is a run, which takes them.
    is_run: bool,
}

/// The bytes of a queue and its entry in the cache.
pub const QUEUE_BYTES: u64 = 512;
/// The bytes that each compaction takes, even if it can no longer be undone.
const COMPACTION: usize = 256;

/// Fewer writes than this are not swept.
const LEAST_SWEPT: usize = 16;

/// The state of a conversation, as far as it is known.
#[derive(Clone, Debug, Default)]
pub enum Published {
    /// Not known: it has to be loaded.
    #[default]
    Unknown,
    /// The conversation does not exist.
    Absent,
    /// The last committed state.
    State(Arc<Conversation>),
}

impl Published {
    fn of(state: Option<Arc<Conversation>>) -> Self {
        state.map_or(Self::Absent, Self::State)
    }

    /// Whether it need not be loaded.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Returns the state, if there is one.
    pub fn state(self) -> Option<Arc<Conversation>> {
        match self {
            Self::State(state) => Some(state),
            Self::Unknown | Self::Absent => None,
        }
    }
}

impl Queue {
    /// Creates the queue of a conversation about which nothing is known yet.
    pub fn new(key: ConversationKey) -> Self {
        let waiting = WaitingWrites { writes: Writes::new(), sweep_at: LEAST_SWEPT, is_run: false };
        let (turn, published, changed, contended) = Default::default();
        let (waiting, charged) = (Mutex::new(waiting), AtomicU64::new(QUEUE_BYTES));
        Self { key, turn, waiting, charged, published, changed, contended }
    }

    /// Waits for the turn to change the conversation. Turns are given in the order in which they were asked for.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        self.turn.clone().lock_owned().await
    }

    /// Takes the turn if nobody has it.
    pub fn turn_if_free(&self) -> Option<OwnedMutexGuard<()>> {
        self.turn.clone().try_lock_owned().ok()
    }

    /// Whether writes are waiting or being decided, or somebody else changes the conversation.
    pub fn is_busy(&self) -> bool {
        self.waiting.lock().is_run || self.turn.try_lock().is_err()
    }

    /// Returns the published state.
    pub fn published(&self) -> Published {
        self.published.read().value.clone()
    }

    /// Returns the published state, and when the store was last asked for it.
    pub fn confirmed(&self) -> Confirmed<Published> {
        self.published.read().clone()
    }

    /// Notes that the store still had the published state that was `seen` when it was asked.
    pub fn confirm(&self, seen: &Confirmed<Published>, asked: Duration) {
        self.published.write().confirm(seen, asked);
    }

    /// Whether another process wrote to the conversation recently, so that the published state may well be
    /// outdated.
    pub fn is_contended(&self) -> bool {
        self.contended.load(Ordering::Relaxed) > 0
    }

    /// Notes whether another process was faster than a commit or a decision.
    pub fn note_commit(&self, was_late: bool) {
        let next = |left: u32| if was_late { Some(CONTENDED) } else { left.checked_sub(1) };
        let _ = self.contended.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// Subscribes to all later publications.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.changed.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    /// Notifies the watchers that there may be news.
    pub fn tell(&self) {
        if let Some(changed) = self.changed.get() {
            changed.send_replace(());
        }
    }

    /// Adds a write, unless `most` already wait. Returns whether the caller has to run the queue, because nobody
    /// does. Writes of callers that are gone are swept, or a stalled store would pile them up.
    pub fn push(&self, write: Box<QueuedWrite>, most: usize) -> Result<bool> {
        let mut waiting = self.waiting.lock();
        let gone = waiting.sweep(most);
        let is_full = waiting.writes.len() >= most;
        if !is_full {
            waiting.writes.push_back(write);
        }
        let runs = !is_full && !mem::replace(&mut waiting.is_run, true);
        drop(waiting);
        // their drop code must not run under the queue's lock
        drop(gone);
        if is_full { Err(EngineError::QueueFull) } else { Ok(runs) }
    }

    /// Moves waiting writes to the end of `taken`, until it has `most`.
    pub fn take(&self, taken: &mut Writes, most: usize) {
        let writes = &mut self.waiting.lock().writes;
        let count = most.saturating_sub(taken.len()).min(writes.len());
        taken.extend(writes.drain(..count));
    }

    /// Ends the run unless writes wait. Returns whether it did.
    pub fn end_run(&self) -> bool {
        let mut waiting = self.waiting.lock();
        waiting.is_run = !waiting.writes.is_empty();
        !waiting.is_run
    }

    /// Ends the run, and drops the waiting writes.
    pub fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_run = false;
        let writes = mem::take(&mut waiting.writes);
        drop(waiting);
        drop(writes);
    }

    /// Publishes a state that the store had after `asked`; `None` for `asked` if it may be older than what was
    /// committed here.
    pub fn publish(&self, state: Option<Arc<Conversation>>, asked: Option<Duration>) {
        self.replace(Published::of(state), asked);
    }

    /// Drops the published state: the next caller to ask loads the stored one.
    pub fn forget(&self) {
        self.replace(Published::Unknown, None);
    }

    /// Returns what the cache should charge, if that differs much from what it does charge.
    pub fn new_charge(&self) -> Option<u64> {
        let state = self.published().state()?;
        let (charged, bytes) = (self.charged.load(Ordering::Relaxed), footprint(&state));
        (bytes > charged * 2 || bytes < charged / 2).then_some(bytes)
    }

    /// Records that the cache charges `bytes`.
    pub fn charged(&self, bytes: u64) {
        self.charged.store(bytes, Ordering::Relaxed);
    }

    fn replace(&self, published: Published, asked: Option<Duration>) {
        let before = self.published.write().replace(published, asked);
        drop(before);
        self.tell();
    }
}

impl WaitingWrites {
    /// Removes the writes nobody waits for any more, if there may be many, or if the maximum number is
    /// waiting.
    fn sweep(&mut self, most: usize) -> Writes {
        if self.writes.len() < self.sweep_at.min(most) {
            return Writes::new();
        }
        let (awaited, gone) = mem::take(&mut self.writes).into_iter().partition(|write| write.is_awaited());
        self.writes = awaited;
        self.sweep_at = LEAST_SWEPT.max(self.writes.len() * 2);
        gone
    }
}

/// Returns the bytes of a conversation in the state `state`. The cost does not grow with the length of the
/// conversation.
pub fn footprint(state: &Conversation) -> u64 {
    let told = state.summary.memory_bytes() + compactions_bytes(&state.compactions);
    QUEUE_BYTES + (state.window.memory_bytes() + state.head.memory_bytes() + told) as u64
}

/// Returns the bytes of the compactions. Reads only the newest ones, because older ones cannot be undone.
fn compactions_bytes(all: &[Arc<Compaction>]) -> usize {
    let newest = all.iter().rev().take_while(|compaction| compaction.is_undoable());
    COMPACTION * all.len() + newest.map(|compaction| compaction.memory_bytes()).sum::<usize>()
}
