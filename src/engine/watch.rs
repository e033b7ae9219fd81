//! Watching a conversation's capacity.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    domain::{Conversation, LineageId, Revision},
    engine::{
        Address, Caller, Engine, EngineError, Operation, events::Event, pointers::PointerWatch, queue::Queue,
    },
};

/// Sees a conversation now and after each change; changes that come faster than they are read
/// are seen as one.
pub struct CapacityWatch {
    engine: Arc<Engine>,
    caller: Caller,
    address: Address,
    /// By a recipient: whichever conversation is its active one is watched.
    pointer: Option<PointerWatch>,
    /// `None` while the recipient has none.
    on: Option<On>,
    seen: Option<(LineageId, Revision)>,
}

/// The conversation that is watched.
struct On {
    /// Held, so that it is the one in which the conversation changes.
    _queue: Arc<Queue>,
    changes: watch::Receiver<()>,
    lineage: LineageId,
}

impl Engine {
    /// Watches a conversation; or a recipient's active one, whichever that is at the time, and what its next one
    /// starts with while there is none.
    pub async fn watch_capacity(
        self: &Arc<Self>,
        caller: &Caller,
        address: Address,
    ) -> Result<CapacityWatch, EngineError> {
        let by_recipient = address.conversation.is_none();
        let recipient = || caller.recipient(address.recipient_or_default());
        let pointer = by_recipient.then(|| self.pointers.watch(recipient()));
        let state = self.read_or_blank(caller, &address).await?;
        self.events.push(Event::read(Operation::GetCapacity, &state, 1));
        let (engine, caller) = (self.clone(), caller.clone());
        let mut watch = CapacityWatch { engine, caller, address, pointer, on: None, seen: None };
        watch.turn_to(&state);
        Ok(watch)
    }
}

impl CapacityWatch {
    /// The next state that was not seen yet; one before any revision while the recipient has no conversation.
    ///
    /// Refuses once the conversation that is named is deleted.
    pub async fn next(&mut self) -> Result<Arc<Conversation>, EngineError> {
        loop {
            self.receivers().for_each(watch::Receiver::mark_unchanged);
            let state = self.state().await?;
            if self.turn_to(&state) {
                // what it changed to before it was watched has not been told
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

    /// The state of what is watched now.
    async fn state(&self) -> Result<Arc<Conversation>, EngineError> {
        let state = self.engine.read_or_blank(&self.caller, &self.address).await?;
        let is_another = self.on.as_ref().is_some_and(|on| on.lineage != state.head.identity.lineage);
        match self.pointer {
            // it was deleted, and its id was taken
            None if is_another => Err(self.address.not_found().into()),
            _ => Ok(state),
        }
    }

    /// Watches the conversation of `state` from now on; whether another one was watched before.
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

    /// Waits until there may be something new.
    async fn changed(&mut self) -> Result<(), EngineError> {
        let waits = self.receivers().map(|receiver| Box::pin(receiver.changed()));
        let (changed, ..) = futures::future::select_all(waits).await;
        changed.map_err(|_| self.address.not_found().into())
    }

    fn receivers(&mut self) -> impl Iterator<Item = &mut watch::Receiver<()>> {
        let pointer = self.pointer.as_mut().map(|pointer| &mut pointer.moves);
        pointer.into_iter().chain(self.on.as_mut().map(|on| &mut on.changes))
    }
}
