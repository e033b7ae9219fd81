//! Following changes by other processes.

use std::sync::Arc;

use futures::StreamExt;

use crate::Engine;
use utterd_store::Hint;

impl Engine {
    /// Until dropped, notifies the watchers of a conversation, or of a recipient's active pointer, when
    /// another process may have changed it. Does nothing if no other process writes to the store.
    pub async fn heed_hints(self: Arc<Self>) {
        let mut hints = self.store.hints();
        while let Some(hint) = hints.next().await {
            match hint {
                Hint::Changed(key) => {
                    self.queues.get(&key).into_iter().for_each(|queue| queue.tell());
                    self.events.tell(&key.namespace);
                }
                Hint::Active(recipient) => self.pointers.tell(&recipient),
                // readers of events ask the store themselves if no hint comes
                Hint::Missed => self.missed.send_replace(()),
            }
        }
    }
}
