//! One conversation in memory: its queue, and the state that is published.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, OnceLock},
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use crate::{
    domain::{Change, Conversation, ConversationKey},
    engine::{footprint, queued::Entry},
};

/// One conversation as this process sees it.
///
/// At any time at most one holds the queue: who drives it, which is to decide what waits and to commit it, or
/// who changes several conversations at once. Only who holds the queue changes what is published.
pub(super) struct Queue {
    pub(super) key: ConversationKey,
    waiting: Mutex<Waiting>,
    /// Locked only to copy or to replace a pointer: a reader never waits for a decision or a commit.
    published: RwLock<Published>,
    changed: OnceLock<watch::Sender<()>>,
}

struct Waiting {
    entries: VecDeque<Entry>,
    /// Once so many wait, those are looked for whose callers have gone.
    sweep_at: usize,
    is_held: bool,
    /// The queue is no longer in use: another one of the same conversation may be.
    is_discarded: bool,
    charge: Charge,
}

/// Fewer entries of callers that have gone are not looked for.
const LEAST_SWEPT: usize = 16;

/// What the cache charges for the conversation.
struct Charge {
    /// About how many bytes the window takes.
    window: u64,
    /// What is charged.
    bytes: u64,
}

/// What is known of a conversation.
#[derive(Clone, Debug, Default)]
pub(super) enum Published {
    /// Nothing: it has to be loaded.
    #[default]
    Unknown,
    /// It does not exist.
    Absent,
    /// The state that was committed last.
    State(Arc<Conversation>),
}

/// Why an entry was not put in a queue.
pub(super) enum Unqueued {
    /// The queue is no longer in use; the entry comes back.
    Discarded(Entry),
    /// As many writes wait as may.
    Full,
}

impl Published {
    fn of(state: Option<Arc<Conversation>>) -> Self {
        state.map_or(Self::Absent, Self::State)
    }

    /// The state, where there is one.
    pub(super) fn state(self) -> Option<Arc<Conversation>> {
        match self {
            Self::State(state) => Some(state),
            Self::Unknown | Self::Absent => None,
        }
    }
}

impl Queue {
    /// The queue of a conversation of which nothing is known yet.
    pub(super) fn new(key: ConversationKey) -> Self {
        let charge = Charge { window: 0, bytes: footprint::QUEUE };
        let waiting = Waiting::new(charge);
        Self { key, waiting: Mutex::new(waiting), published: RwLock::default(), changed: OnceLock::new() }
    }

    /// What is known, and may be seen.
    pub(super) fn published(&self) -> Published {
        self.published.read().clone()
    }

    /// Sees every later publication.
    pub(super) fn watch(&self) -> watch::Receiver<()> {
        self.changed.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    /// Tells those who watch that there may be something new.
    pub(super) fn tell(&self) {
        if let Some(changed) = self.changed.get() {
            changed.send_replace(());
        }
    }

    /// Holds the queue if nobody does: the entry comes back then, and waits for its turn otherwise, unless `most` wait.
    /// Entries of callers that have gone do not wait for ever: a store that stands still would collect them.
    pub(super) fn hold_or_wait(&self, entry: Entry, most: usize) -> Result<Option<Entry>, Unqueued> {
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
        // what they hold is none of the queue's
        drop(gone);
        if is_full { Err(Unqueued::Full) } else { Ok(None) }
    }

    /// Whether somebody holds the queue.
    pub(super) fn is_held(&self) -> bool {
        self.waiting.lock().is_held
    }

    /// Takes the next entry; for who holds the queue.
    pub(super) fn take(&self) -> Option<Entry> {
        self.waiting.lock().entries.pop_front()
    }

    /// Puts an entry back before all that wait.
    pub(super) fn put_back(&self, entry: Entry) {
        self.waiting.lock().entries.push_front(entry);
    }

    /// Lets the queue go, unless something waits; answers whether it did.
    pub(super) fn let_go(&self) -> bool {
        let mut waiting = self.waiting.lock();
        waiting.is_held = !waiting.entries.is_empty();
        !waiting.is_held
    }

    /// Lets the queue go, and with it what waits.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_held = false;
        let entries = mem::take(&mut waiting.entries);
        drop(waiting);
        drop(entries);
    }

    /// Takes the queue out of use, if nobody holds it and the conversation does not exist; answers whether it
    /// did.
    pub(super) fn discard(&self) -> bool {
        let mut waiting = self.waiting.lock();
        let is_unused = !waiting.is_held && matches!(*self.published.read(), Published::Absent);
        let discards = is_unused && !waiting.is_discarded;
        waiting.is_discarded |= discards;
        discards
    }

    /// Publishes a state that was loaded.
    pub(super) fn publish_loaded(&self, state: Option<Arc<Conversation>>) {
        self.waiting.lock().charge.window = state.as_deref().map_or(0, footprint::window);
        self.publish(Published::of(state));
    }

    /// Publishes the state after `changes`; none when the conversation is deleted.
    pub(super) fn publish_after(&self, changes: &[Arc<Change>], after: Option<Arc<Conversation>>) {
        if let Some(after) = &after {
            let charge = &mut self.waiting.lock().charge;
            charge.window = footprint::window_after(charge.window, changes, after);
        }
        self.publish(Published::of(after));
    }

    /// Drops what is known: whoever asks next loads what is stored.
    pub(super) fn forget(&self) {
        self.publish(Published::Unknown);
    }

    /// What the cache should charge, when that is far from what it does.
    pub(super) fn new_charge(&self) -> Option<u64> {
        let state = self.published().state()?;
        let charge = &self.waiting.lock().charge;
        let bytes = footprint::queue(&state, charge.window);
        (bytes > charge.bytes * 2 || bytes < charge.bytes / 2).then_some(bytes)
    }

    /// The cache charges `bytes`.
    pub(super) fn charged(&self, bytes: u64) {
        self.waiting.lock().charge.bytes = bytes;
    }

    fn publish(&self, published: Published) {
        let before = mem::replace(&mut *self.published.write(), published);
        drop(before);
        self.tell();
    }
}

impl Waiting {
    fn new(charge: Charge) -> Self {
        let (entries, is_held, is_discarded) = Default::default();
        Self { entries, sweep_at: LEAST_SWEPT, is_held, is_discarded, charge }
    }

    /// Takes out the entries for which nobody waits any more, if there may be many, or as many wait as may.
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
