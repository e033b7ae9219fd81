//! Hearing of what other processes change.

use std::sync::Arc;

use futures::StreamExt;

use crate::{engine::Engine, store::Hint};

impl Engine {
    /// Tells those who watch a conversation, or which one is a recipient's, that another process may have
    /// changed it, until dropped. Over a store that no other process writes to there is nothing to tell.
    pub async fn heed_hints(self: Arc<Self>) {
        let mut hints = self.store.hints();
        while let Some(hint) = hints.next().await {
            match hint {
                Hint::Changed(key) => self.queues.get(&key).into_iter().for_each(|queue| queue.tell()),
                Hint::Active(recipient) => self.pointers.tell(&recipient),
                Hint::Missed => {
                    self.queues.tell_all();
                    self.pointers.tell_all();
                }
            }
        }
    }
}
