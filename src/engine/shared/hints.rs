//! Following changes by other processes.

use std::sync::Arc;

use futures::StreamExt;

use crate::{
    engine::Engine,
    store::{Hint, LastSeen},
};

impl Engine {
    /// Until dropped, notifies watchers of a conversation, or of a recipient's active pointer, that another
    /// process may have changed it. Over a store that no other process writes to, there is nothing to do.
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

    /// Heeds the hints that did not come. The readers of events are not told: they ask the store themselves if
    /// they hear nothing.
    async fn catch_up(&self) {
        let seen = self.watches.seen();
        if seen == LastSeen::default() {
            return;
        }
        match self.store.outdated(&seen).await {
            Ok(hints) => hints.iter().for_each(|hint| self.heed(hint)),
            // the next comparison finds the same
            Err(error) => tracing::debug!(%error, "what is watched was not compared with the store"),
        }
    }
}
