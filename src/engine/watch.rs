//! Watching a conversation's capacity.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    domain::{Conversation, LineageId, Revision},
    engine::{Address, Caller, Engine, EngineError, Operation, events::Event, queue::Queue},
};

/// Sees a conversation now and after each change; changes that come faster than they are read
/// are seen as one.
pub struct CapacityWatch {
    engine: Arc<Engine>,
    address: Address,
    /// Held, so that it is the one in which the conversation changes.
    queue: Arc<Queue>,
    changes: watch::Receiver<()>,
    seen: Revision,
    lineage: LineageId,
}

impl Engine {
    /// Watches the conversation that is addressed now.
    pub async fn watch_capacity(
        self: &Arc<Self>,
        caller: &Caller,
        address: Address,
    ) -> Result<CapacityWatch, EngineError> {
        let state = self.read(caller, &address).await?;
        let queue = self.queues.of(state.key());
        let changes = queue.watch();
        self.events.push(Event::read(Operation::GetCapacity, &state, 1));
        let lineage = state.head.identity.lineage;
        Ok(CapacityWatch { engine: self.clone(), address, queue, changes, seen: Revision::NONE, lineage })
    }
}

impl CapacityWatch {
    /// The next state that was not seen yet.
    ///
    /// Refuses once the conversation is deleted.
    pub async fn next(&mut self) -> Result<Arc<Conversation>, EngineError> {
        loop {
            self.changes.mark_unchanged();
            let state = self.engine.published(&self.queue.key).await?;
            let state = state.filter(|state| state.head.identity.lineage == self.lineage);
            let state = state.ok_or_else(|| self.address.not_found())?;
            if state.head.revision != self.seen {
                self.seen = state.head.revision;
                return Ok(state);
            }
            if self.changes.changed().await.is_err() {
                return Err(self.address.not_found().into());
            }
        }
    }
}
