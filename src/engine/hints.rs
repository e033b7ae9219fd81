//! Following changes by other processes.

use std::sync::Arc;

use futures::StreamExt;

use crate::{engine::Engine, store::Hint};

impl Engine {
    /// Until dropped, notifies watchers of a conversation, or of a recipient's active pointer, that another
    /// process may have changed it. Over a store that no other process writes to, there is nothing to do.
    pub async fn heed_hints(self: Arc<Self>) {
        let mut hints = self.store.hints();
        while let Some(hint) = hints.next().await {
            match hint {
                Hint::Changed(key) => {
                    self.queues.get(&key).into_iter().for_each(|queue| queue.tell());
                    self.events.tell(&key.namespace);
                }
                Hint::Active(recipient) => self.pointers.tell(&recipient),
                Hint::Missed => {
                    self.queues.tell_all();
                    self.pointers.tell_all();
                    self.events.tell_all();
                }
            }
        }
    }
}
