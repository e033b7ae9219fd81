//! The order of changes of one conversation.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use crate::{
    domain::{Conversation, Encoding},
    engine::{EventLog, events::Event},
};

/// One conversation as this process sees it: what is decided, what is committed, what is
/// published.
#[derive(Default)]
pub(super) struct Lane {
    /// Held while a change is decided and handed to the store, in that order.
    pub(super) pending: tokio::sync::Mutex<Pending>,
    /// Held only to copy or replace the pointer.
    published: RwLock<Option<Arc<Conversation>>>,
    unpublished: Mutex<BTreeMap<Ticket, Unpublished>>,
    changed: OnceLock<watch::Sender<()>>,
}

/// The end of the chain of decisions.
#[derive(Default)]
pub(super) struct Pending {
    /// The newest state decided; `None` when it has to be loaded.
    pub(super) state: Option<Arc<Conversation>>,
    /// The commit that leads to `state`, unless that was loaded.
    pub(super) tip: Option<Ticket>,
    /// The next ticket.
    next: Ticket,
    /// The conversation was deleted and the lane is no longer in use.
    pub(super) removed: bool,
}

/// Numbers the commits of a lane in the order they were handed to the store.
pub(super) type Ticket = u64;

/// A change that is handed to the store and not known to be committed.
pub(super) struct Unpublished {
    parent: Option<Ticket>,
    after: Option<Arc<Conversation>>,
    event: Event,
}

impl Pending {
    /// A change that leads to `after` (`None` is a deletion) was handed to the store.
    pub(super) fn advance(
        &mut self,
        after: Option<Arc<Conversation>>,
        event: Event,
    ) -> (Ticket, Unpublished) {
        let ticket = self.next;
        self.next += 1;
        let parent = self.tip.replace(ticket);
        self.state.clone_from(&after);
        (ticket, Unpublished { parent, after, event })
    }

    /// What was decided may not be so: the next decision loads the state.
    pub(super) fn reset(&mut self) {
        self.state = None;
        self.tip = None;
    }
}

impl Lane {
    /// The published state; `None` when it is not known here.
    pub(super) fn published(&self) -> Option<Arc<Conversation>> {
        self.published.read().clone()
    }

    /// What the published state's tokens are counted in.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.published.read().as_ref().map(|state| state.head.identity.encoding)
    }

    /// Publishes a state that was loaded, unless a newer one is published.
    pub(super) fn publish_loaded(&self, state: &Arc<Conversation>) {
        self.publish(state.clone());
    }

    /// The change waits for its flush.
    pub(super) fn wait(&self, ticket: Ticket, unpublished: Unpublished) {
        self.unpublished.lock().insert(ticket, unpublished);
    }

    /// The commit of `newest` has succeeded, and with it every one that it builds on: their
    /// states are published and their events go out, in order.
    pub(super) fn committed(&self, newest: Unpublished, events: &EventLog) {
        let mut unpublished = self.unpublished.lock();
        let mut chain = Vec::new();
        let mut next = newest.parent;
        while let Some(link) = next.and_then(|ticket| unpublished.remove(&ticket)) {
            next = link.parent;
            chain.push(link);
        }
        for link in chain.into_iter().rev().chain([newest]) {
            match link.after {
                Some(after) => self.publish(after),
                None => *self.published.write() = None,
            }
            events.push(link.event);
        }
        if let Some(changed) = self.changed.get() {
            changed.send_replace(());
        }
    }

    /// The change that waited under `ticket` has been flushed. Nothing is left to do when a later
    /// one was flushed before and took it along.
    pub(super) fn flushed(&self, ticket: Ticket, events: &EventLog) {
        let waiting = self.unpublished.lock().remove(&ticket);
        if let Some(waiting) = waiting {
            self.committed(waiting, events);
        }
    }

    /// The commit of `ticket` has failed.
    pub(super) fn failed(&self, ticket: Ticket) {
        self.unpublished.lock().remove(&ticket);
    }

    /// Sees every later publication.
    pub(super) fn watch(&self) -> watch::Receiver<()> {
        self.changed.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    fn publish(&self, after: Arc<Conversation>) {
        let mut published = self.published.write();
        if published.as_ref().is_none_or(|before| before.head.revision < after.head.revision) {
            let before = published.replace(after);
            drop(published);
            drop(before);
        }
    }
}
