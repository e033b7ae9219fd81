//! The order of changes of one conversation.

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, watch};

use crate::{
    domain::{Change, Conversation, ConversationKey, Identity},
    engine::{EventLog, events::Event, footprint, settle::Link, unflushed::Unflushed},
};

/// One conversation as this process sees it: what is decided, what is committed, what is
/// published.
pub(super) struct Lane {
    /// The conversation.
    pub(super) key: ConversationKey,
    /// Held while a change is decided and handed to the store, in that order.
    pub(super) pending: tokio::sync::Mutex<Pending>,
    /// Held only to copy or replace the pointer.
    published: RwLock<Option<Arc<Conversation>>>,
    /// The changes that are handed to the store and not known to be committed, by ascending ticket.
    /// All are of one chain: a state is loaded only when none is left.
    flight: Mutex<VecDeque<(Ticket, Unpublished)>>,
    /// A commit failed: what was decided on it will fail too.
    broken: AtomicBool,
    landed: Notify,
    changed: OnceLock<watch::Sender<()>>,
}

/// The end of the chain of decisions.
pub(super) struct Pending {
    /// The newest state decided; `None` when it has to be loaded, once nothing is in flight.
    pub(super) state: Option<Arc<Conversation>>,
    /// Tells the decisions made since a state was loaded from those made before, in all lanes.
    pub(super) chain: u64,
    /// The next ticket.
    next: Ticket,
    /// The conversation does not exist and the lane is no longer in use.
    pub(super) removed: bool,
    /// About how many bytes the window of `state` takes.
    window: u64,
    /// Bytes that the cache charges for the lane.
    charged: u64,
}

/// Numbers the commits of a lane in the order they were handed to the store.
pub(super) type Ticket = u64;

/// A change that is handed to the store and not known to be committed.
pub(super) struct Unpublished {
    change: Option<Arc<Change>>,
    /// `None` when the conversation is deleted.
    after: Option<Arc<Conversation>>,
    event: Event,
}

impl Pending {
    /// A change of `lane`, which this is the end of, was handed to the store; it leads to `after`.
    pub(super) fn link(
        &mut self,
        lane: &Arc<Lane>,
        change: &Arc<Change>,
        after: &Arc<Conversation>,
        event: Event,
    ) -> Link {
        self.window = footprint::window_after(self.window, change, after);
        self.state = Some(after.clone());
        let change = Unpublished { change: Some(change.clone()), after: Some(after.clone()), event };
        Link { lane: lane.clone(), ticket: self.ticket(), change }
    }

    /// The deletion of the conversation was handed to the store. Whoever decides next waits for it.
    pub(super) fn delete(&mut self, lane: &Arc<Lane>, event: Event) -> Link {
        self.state = None;
        let change = Unpublished { change: None, after: None, event };
        Link { lane: lane.clone(), ticket: self.ticket(), change }
    }

    /// The state was loaded while nothing was in flight.
    pub(super) fn start(&mut self, chain: u64, state: Option<Arc<Conversation>>) {
        self.window = state.as_deref().map_or(0, footprint::window);
        self.state = state;
        self.chain = chain;
    }

    /// What the lane should be charged, when that is far from what it is charged.
    pub(super) fn new_charge(&self) -> Option<u64> {
        let bytes = footprint::lane(self.state.as_ref()?, self.window);
        (bytes > self.charged * 2 || bytes < self.charged / 2).then_some(bytes)
    }

    /// The lane is charged `bytes`.
    pub(super) fn charged(&mut self, bytes: u64) {
        self.charged = bytes;
    }

    fn ticket(&mut self) -> Ticket {
        self.next += 1;
        self.next
    }
}

impl Lane {
    /// The lane of a conversation of which nothing is known yet.
    pub(super) fn new(key: ConversationKey) -> Self {
        let pending =
            Pending { state: None, chain: 0, next: 0, removed: false, window: 0, charged: footprint::LANE };
        Self {
            key,
            pending: tokio::sync::Mutex::new(pending),
            published: RwLock::default(),
            flight: Mutex::default(),
            broken: AtomicBool::new(false),
            landed: Notify::new(),
            changed: OnceLock::new(),
        }
    }

    /// The published state; `None` when it is not known here.
    pub(super) fn published(&self) -> Option<Arc<Conversation>> {
        self.published.read().clone()
    }

    /// Whether a state is published here.
    pub(super) fn is_published(&self) -> bool {
        self.published.read().is_some()
    }

    /// The published state's identity.
    pub(super) fn identity(&self) -> Option<Arc<Identity>> {
        self.published.read().as_ref().map(|state| state.head.identity.clone())
    }

    /// Whether nothing is known of the conversation and nobody waits for anything.
    pub(super) fn is_unused(&self, pending: &Pending) -> bool {
        (pending.state.is_none() || self.is_broken()) && !self.is_published() && !self.is_waiting()
    }

    /// Whether what was decided on this lane will fail, because something before it did.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Whether a change waits for its flush.
    pub(super) fn is_waiting(&self) -> bool {
        !self.flight.lock().is_empty()
    }

    /// The changes that wait for their flush.
    pub(super) fn unflushed(&self) -> Unflushed {
        let flight = self.flight.lock();
        Unflushed(flight.iter().filter_map(|(_, waiting)| waiting.change.clone()).collect())
    }

    /// Waits until it is known of every change whether it was committed. The lane is held, so that
    /// no other is handed over meanwhile; nobody who settles one needs it.
    pub(super) async fn land(&self) {
        loop {
            let landed = self.landed.notified();
            if !self.is_waiting() {
                return;
            }
            landed.await;
        }
    }

    /// What was decided on a commit that failed is discarded: what comes is decided on what is stored.
    pub(super) fn repair(&self, pending: &mut Pending) {
        pending.state = None;
        self.broken.store(false, Ordering::Release);
    }

    /// Publishes a state that was loaded while nothing was in flight: it is the newest.
    pub(super) fn publish_loaded(&self, state: Option<&Arc<Conversation>>) {
        let place = |state: &Arc<Conversation>| (state.head.identity.lineage, state.head.revision);
        if self.published.read().as_ref().map(place) != state.map(place) {
            self.publish(state.cloned());
            self.tell();
        }
    }

    /// The change was committed, and with it every one that it builds on: their states are
    /// published and their events go out, in order.
    pub(super) fn committed(&self, ticket: Ticket, change: Unpublished, events: &EventLog) {
        let mut flight = self.flight.lock();
        self.publish_waiting(&mut flight, ticket, events);
        self.publish_change(change, events);
        drop(flight);
        self.tell();
    }

    /// The change waits for its flush.
    pub(super) fn wait(&self, ticket: Ticket, change: Unpublished) {
        self.flight.lock().push_back((ticket, change));
    }

    /// The change that waited under `ticket` was committed. Nothing is left to do when a later one
    /// was before and took it along.
    pub(super) fn flushed(&self, ticket: Ticket, events: &EventLog) {
        let mut flight = self.flight.lock();
        if self.publish_waiting(&mut flight, ticket, events) {
            self.tell();
        }
        self.tell_landed(&flight);
    }

    /// The change under `ticket` was not committed.
    pub(super) fn failed(&self, ticket: Ticket) {
        let mut flight = self.flight.lock();
        self.broken.store(true, Ordering::Release);
        flight.retain(|(waiting, _)| *waiting != ticket);
        self.tell_landed(&flight);
    }

    /// Sees every later publication.
    pub(super) fn watch(&self) -> watch::Receiver<()> {
        self.changed.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    fn publish_waiting(
        &self,
        flight: &mut VecDeque<(Ticket, Unpublished)>,
        last: Ticket,
        events: &EventLog,
    ) -> bool {
        let mut published = false;
        while flight.front().is_some_and(|(ticket, _)| *ticket <= last)
            && let Some((_, change)) = flight.pop_front()
        {
            self.publish_change(change, events);
            published = true;
        }
        published
    }

    fn publish_change(&self, change: Unpublished, events: &EventLog) {
        self.publish(change.after);
        events.push(change.event);
    }

    fn publish(&self, state: Option<Arc<Conversation>>) {
        let before = std::mem::replace(&mut *self.published.write(), state);
        drop(before);
    }

    fn tell_landed(&self, flight: &VecDeque<(Ticket, Unpublished)>) {
        if flight.is_empty() {
            self.landed.notify_waiters();
        }
    }

    fn tell(&self) {
        if let Some(changed) = self.changed.get() {
            changed.send_replace(());
        }
    }
}
