//! Holding a conversation.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::OwnedMutexGuard;

use crate::{Engine, lane::queue::Queue};
use utterd_domain::ConversationKey;

/// The right to change a conversation: meanwhile, nobody else decides, commits or publishes anything for it.
/// Dropping it passes the right on.
pub struct Hold {
    pub engine: Arc<Engine>,
    pub queue: Arc<Queue>,
    _turn: OwnedMutexGuard<()>,
}

impl Hold {
    /// Holds the conversation of a queue, once its turn comes.
    pub async fn of(engine: &Arc<Engine>, queue: Arc<Queue>) -> Self {
        let turn = queue.turn().await;
        Self { engine: engine.clone(), queue, _turn: turn }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.engine.queues.charge(&self.queue);
        self.engine.queues.discard_unused(&self.queue);
    }
}

impl Engine {
    /// Holds a conversation if nobody does.
    pub(crate) fn hold_if_free(self: &Arc<Self>, key: &ConversationKey) -> Option<Hold> {
        let queue = self.queues.of(key);
        let turn = queue.turn_if_free()?;
        Some(Hold { engine: self.clone(), queue, _turn: turn })
    }

    /// Holds a conversation, after those who asked for that before.
    pub(crate) async fn hold(self: &Arc<Self>, key: &ConversationKey) -> Hold {
        Hold::of(self, self.queues.of(key)).await
    }

    /// Holds several conversations, in key order, so that no two tasks wait for each other's holds.
    pub(crate) async fn hold_all(self: &Arc<Self>, keys: &BTreeSet<ConversationKey>) -> Vec<Hold> {
        let mut holds = Vec::with_capacity(keys.len());
        for key in keys {
            holds.push(self.hold(key).await);
        }
        holds
    }
}

/// Returns the hold of a conversation from those held.
pub fn held<'a>(holds: &'a [Hold], key: &ConversationKey) -> Option<&'a Hold> {
    holds.iter().find(|hold| hold.queue.key == *key)
}
