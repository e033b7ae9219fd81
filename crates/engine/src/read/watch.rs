//! Watching a conversation's capacity.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    Address, Caller, Engine, Operation, Result, events::Event, lane::queue::Queue,
    shared::pointers::PointerWatch,
};
use utterd_domain::{Conversation, LineageId, Revision};

/// Follows a conversation: returns its current state, and then the state after each change. Changes that come
/// faster than they are read are merged.
pub struct CapacityWatch {
    engine: Arc<Engine>,
    caller: Caller,
    address: Address,
    /// Set if the address is a recipient: the watch then follows its active conversation.
    pointer: Option<PointerWatch>,
    /// `None` while the recipient has no conversation.
    on: Option<On>,
    seen: Option<(LineageId, Revision)>,
    /// Notified when a change by another process may have been missed.
    missed: watch::Receiver<()>,
}

/// The watched conversation.
struct On {
    /// Kept so that the conversation's queue is not replaced by a new one, which would not notify `changes`.
    _queue: Arc<Queue>,
    changes: watch::Receiver<()>,
    lineage: LineageId,
}

impl Engine {
    /// Watches a conversation, or whichever conversation of a recipient is active. While there is none, the
    /// watch returns what the next one would start with.
    pub async fn watch_capacity(
        self: &Arc<Self>,
        caller: &Caller,
        address: Address,
    ) -> Result<CapacityWatch> {
        let by_recipient = address.conversation.is_none();
        let recipient = || caller.recipient(address.recipient_or_default());
        let pointer = by_recipient.then(|| self.pointers.watch(recipient()));
        let missed = self.missed.subscribe();
        let state = self.read_or_blank(caller, &address).await?;
        self.events.push(Event::read(Operation::GetCapacity, &state, 1));
        let (engine, caller) = (self.clone(), caller.clone());
        let mut watch = CapacityWatch { engine, caller, address, pointer, on: None, seen: None, missed };
        watch.turn_to(&state);
        Ok(watch)
    }
}

impl CapacityWatch {
    /// Returns the next state that was not returned yet. While the recipient has no conversation, this is a
    /// blank one, before its first revision.
    ///
    /// Fails once a conversation watched by id is deleted.
    pub async fn next(&mut self) -> Result<Arc<Conversation>> {
        loop {
            self.receivers().for_each(watch::Receiver::mark_unchanged);
            let state = self.state().await?;
            if self.turn_to(&state) {
                // changes before the subscription were not notified
                continue;
            }
            let place = (state.head.identity.lineage, state.head.revision);
            if self.seen != Some(place) {
                self.seen = Some(place);
                return Ok(state);
            }
            self.changed().await?;
        }
    }

    /// Returns the current state of the watched conversation.
    async fn state(&self) -> Result<Arc<Conversation>> {
        let state = self.engine.read_or_blank(&self.caller, &self.address).await?;
        let is_another = self.on.as_ref().is_some_and(|on| on.lineage != state.head.identity.lineage);
        match self.pointer {
            // the conversation was deleted, and its id reused
            None if is_another => Err(self.address.not_found().into()),
            _ => Ok(state),
        }
    }

    /// Watches the conversation of `state` from now on. Returns true if it was not watched before.
    fn turn_to(&mut self, state: &Conversation) -> bool {
        let lineage = state.head.identity.lineage;
        if !state.exists() {
            self.on = None;
            return false;
        }
        if self.on.as_ref().is_some_and(|on| on.lineage == lineage) {
            return false;
        }
        let queue = self.engine.queues.of(state.key());
        self.on = Some(On { changes: queue.watch(), _queue: queue, lineage });
        true
    }

    /// Waits until the conversation, or the recipient's pointer, may have changed.
    async fn changed(&mut self) -> Result<()> {
        let waits = self.receivers().map(|receiver| Box::pin(receiver.changed()));
        let (changed, ..) = futures::future::select_all(waits).await;
        changed.map_err(|_| self.address.not_found().into())
    }

    fn receivers(&mut self) -> impl Iterator<Item = &mut watch::Receiver<()>> {
        let pointer = self.pointer.as_mut().map(|pointer| &mut pointer.moves);
        let own = pointer.into_iter().chain(self.on.as_mut().map(|on| &mut on.changes));
        own.chain([&mut self.missed])
    }
}
