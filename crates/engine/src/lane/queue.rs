//! One conversation in memory: its queue, and its published state.

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use crate::{footprint, lane::queued::Entry, shared::confirmed::Confirmed};
use utterd_domain::{Change, Conversation, ConversationKey};

/// A conversation as seen by this process.
///
/// The queue has at most one holder at a time: its driver, which decides and commits the waiting writes, or a
/// task that changes several conversations together. Only the holder changes the published state.
pub struct Queue {
    pub key: ConversationKey,
    waiting: Mutex<Waiting>,
    /// Locked only to copy or replace a pointer: a reader never waits for a decision or a commit.
    published: RwLock<Confirmed<Published>>,
    changed: OnceLock<watch::Sender<()>>,
    /// For how many more commits other processes are expected to write too.
    contended: AtomicU32,
}

/// After a commit that another process was faster than, the number of commits for which the store is asked for
/// the newest state first.
const CONTENDED: u32 = 16;

struct Waiting {
    entries: VecDeque<Entry>,
    /// When this many entries wait, those whose callers are gone are swept.
    sweep_at: usize,
    is_held: bool,
    /// The queue is no longer in use; the conversation may have a new one.
    is_discarded: bool,
    charge: Charge,
}

/// Fewer entries than this are not swept.
const LEAST_SWEPT: usize = 16;

/// What the cache charges for the conversation.
struct Charge {
    /// The approximate size of the window in bytes.
    window: u64,
    /// The bytes charged.
    bytes: u64,
}

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

/// Why an entry was not put in a queue.
pub enum Unqueued {
    /// The queue is no longer in use; returns the entry.
    Discarded(Entry),
    /// The maximum number of writes is waiting.
    Full,
}

impl Published {
    fn of(state: Option<Arc<Conversation>>) -> Self {
        state.map_or(Self::Absent, Self::State)
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
        let charge = Charge { window: 0, bytes: footprint::QUEUE };
        let waiting = Waiting::new(charge);
        let (published, changed, contended) = Default::default();
        Self { key, waiting: Mutex::new(waiting), published, changed, contended }
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

    /// Returns the entry if nobody held the queue, which its caller now holds; otherwise queues the entry,
    /// unless `most` already wait. Entries of callers that are gone are swept, or a stalled store would pile
    /// them up.
    pub fn hold_or_wait(&self, entry: Entry, most: usize) -> Result<Option<Entry>, Unqueued> {
        let mut waiting = self.waiting.lock();
        if waiting.is_discarded {
            return Err(Unqueued::Discarded(entry));
        }
        if !mem::replace(&mut waiting.is_held, true) {
            return Ok(Some(entry));
        }
        let gone = waiting.sweep(most);
        let is_full = waiting.entries.len() >= most;
        if !is_full {
            waiting.entries.push_back(entry);
        }
        drop(waiting);
        // their drop code must not run under the queue's lock
        drop(gone);
        if is_full { Err(Unqueued::Full) } else { Ok(None) }
    }

    /// Takes the hold if nobody has it.
    pub fn hold_if_free(&self) -> bool {
        let mut waiting = self.waiting.lock();
        !waiting.is_discarded && !mem::replace(&mut waiting.is_held, true)
    }

    /// Whether the queue is held.
    pub fn is_held(&self) -> bool {
        self.waiting.lock().is_held
    }

    /// Takes the next entry; only for the holder.
    pub fn take(&self) -> Option<Entry> {
        self.waiting.lock().entries.pop_front()
    }

    /// Puts an entry back at the front.
    pub fn put_back(&self, entry: Entry) {
        self.waiting.lock().entries.push_front(entry);
    }

    /// Releases the queue unless entries wait. Returns whether it did.
    pub fn let_go(&self) -> bool {
        let mut waiting = self.waiting.lock();
        waiting.is_held = !waiting.entries.is_empty();
        !waiting.is_held
    }

    /// Releases the queue and drops the waiting entries.
    pub fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_held = false;
        let entries = mem::take(&mut waiting.entries);
        drop(waiting);
        drop(entries);
    }

    /// Takes the queue out of use, if nobody holds it and the conversation does not exist. Returns whether it
    /// did.
    pub fn discard(&self) -> bool {
        let mut waiting = self.waiting.lock();
        let is_unused = !waiting.is_held && matches!(self.published.read().value, Published::Absent);
        let discards = is_unused && !waiting.is_discarded;
        waiting.is_discarded |= discards;
        discards
    }

    /// Publishes a state that was loaded after `asked`; `None` if it may be older than what was committed here.
    pub fn publish_loaded(&self, state: Option<Arc<Conversation>>, asked: Option<Duration>) {
        self.waiting.lock().charge.window = state.as_deref().map_or(0, footprint::window);
        self.publish(Published::of(state), asked);
    }

    /// Publishes the state after `changes`, whose commit `began` at this time; `None` if the conversation is
    /// deleted.
    pub fn publish_after(
        &self,
        changes: &[Arc<Change>],
        after: Option<Arc<Conversation>>,
        began: Option<Duration>,
    ) {
        if let Some(after) = &after {
            let charge = &mut self.waiting.lock().charge;
            charge.window = footprint::window_after(charge.window, changes, after);
        }
        self.publish(Published::of(after), began);
    }

    /// Drops the published state: the next caller to ask loads the stored one.
    pub fn forget(&self) {
        self.publish(Published::Unknown, None);
    }

    /// Returns what the cache should charge, if that differs much from what it does charge.
    pub fn new_charge(&self) -> Option<u64> {
        let state = self.published().state()?;
        let charge = &self.waiting.lock().charge;
        let bytes = footprint::queue(&state, charge.window);
        (bytes > charge.bytes * 2 || bytes < charge.bytes / 2).then_some(bytes)
    }

    /// Records that the cache charges `bytes`.
    pub fn charged(&self, bytes: u64) {
        self.waiting.lock().charge.bytes = bytes;
    }

    fn publish(&self, published: Published, asked: Option<Duration>) {
        let before = self.published.write().replace(published, asked);
        drop(before);
        self.tell();
    }
}

impl Waiting {
    fn new(charge: Charge) -> Self {
        let (entries, is_held, is_discarded) = Default::default();
        Self { entries, sweep_at: LEAST_SWEPT, is_held, is_discarded, charge }
    }

    /// Removes the entries nobody waits for any more, if there may be many, or if the maximum number is
    /// waiting.
    fn sweep(&mut self, most: usize) -> VecDeque<Entry> {
        if self.entries.len() < self.sweep_at.min(most) {
            return VecDeque::new();
        }
        let (awaited, gone) = mem::take(&mut self.entries).into_iter().partition(Entry::is_awaited);
        self.entries = awaited;
        self.sweep_at = LEAST_SWEPT.max(self.entries.len() * 2);
        gone
    }
}
