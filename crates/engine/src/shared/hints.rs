//! Following changes by other processes.

use std::sync::Arc;

use futures::StreamExt;

use crate::Engine;
use utterd_store::{Hint, LastSeen};

impl Engine {
    /// Until dropped, notifies the watchers of a conversation, or of a recipient's active pointer, when
    /// another process may have changed it. Does nothing if no other process writes to the store.
    pub async fn heed_hints(self: Arc<Self>) {
        let mut hints = self.store.hints();
        while let Some(hint) = hints.next().await {
            match hint {
                Hint::Missed => self.catch_up().await,
                hint => self.heed(&hint),
            }
        }
    }

    fn heed(&self, hint: &Hint) {
        match hint {
            Hint::Changed(key) => {
                self.queues.get(key).into_iter().for_each(|queue| queue.tell());
                self.events.tell(&key.namespace);
            }
            Hint::Active(recipient) => self.pointers.tell(recipient),
            Hint::Missed => {}
        }
    }

    /// Finds the changes whose hints were missed, and notifies their watchers. Readers of events need no
    /// notification: they ask the store themselves if no hint comes.
    async fn catch_up(&self) {
        let seen = self.watches.seen();
        if seen == LastSeen::default() {
            return;
        }
        match self.store.outdated(&seen).await {
            Ok(hints) => hints.iter().for_each(|hint| self.heed(hint)),
            // the next comparison finds the same changes
            Err(error) => tracing::debug!(%error, "what is watched was not compared with the store"),
        }
    }
}
