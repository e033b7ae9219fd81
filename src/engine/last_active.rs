//! Which conversations of recipients were active lately.

use quick_cache::sync::Cache;

use crate::{domain::ConversationId, store::RecipientKey};

/// Recipients whose active conversation is remembered.
const MOST: usize = 65_536;

/// Which conversation of a recipient was active when the store was asked last.
pub(super) struct LastActive(Cache<RecipientKey, ConversationId>);

impl LastActive {
    pub(super) fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// The conversation that was the recipient's.
    pub(super) fn of(&self, recipient: &RecipientKey) -> Option<ConversationId> {
        self.0.get(recipient)
    }

    /// Notes what the store has answered.
    pub(super) fn note(&self, recipient: &RecipientKey, active: &ConversationId) {
        if self.of(recipient).as_ref() != Some(active) {
            self.0.insert(recipient.clone(), active.clone());
        }
    }
}
