//! What each watch in this process saw last, to find changes by other processes whose hints were missed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use utterd_domain::{ChangeId, Conversation, ConversationId, ConversationKey};
use utterd_store::{LastSeen, RecipientKey};

/// What each watch saw last.
#[derive(Default)]
pub struct Watches {
    seen: Mutex<BTreeMap<u64, Seen>>,
    begun: AtomicU64,
}

struct Seen {
    conversation: Option<(ConversationKey, ChangeId)>,
    recipient: Option<(RecipientKey, Option<ConversationId>)>,
}

/// A watch. Dropping it ends the watch.
pub struct Watching {
    watches: Arc<Watches>,
    number: u64,
    /// Set if the watch follows this recipient's active conversation.
    recipient: Option<RecipientKey>,
}

impl Watches {
    /// Begins a watch of a conversation, or of the active conversation of `recipient`, if set.
    pub fn begin(self: &Arc<Self>, recipient: Option<RecipientKey>) -> Watching {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        Watching { watches: self.clone(), number, recipient }
    }

    /// Returns what all watches saw last.
    pub fn seen(&self) -> LastSeen {
        let seen = self.seen.lock();
        LastSeen {
            conversations: seen.values().filter_map(|seen| seen.conversation.clone()).collect(),
            recipients: seen.values().filter_map(|seen| seen.recipient.clone()).collect(),
        }
    }
}

impl Watching {
    /// Records the state that was read last. If the recipient has no conversation, this is a blank one before
    /// its first revision.
    pub fn saw(&self, state: &Conversation) {
        let exists = state.exists();
        let conversation = exists.then(|| (state.key().clone(), state.head.change));
        let active = exists.then(|| state.key().id.clone());
        let recipient = self.recipient.clone().map(|recipient| (recipient, active));
        self.watches.seen.lock().insert(self.number, Seen { conversation, recipient });
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.watches.seen.lock().remove(&self.number);
    }
}
