//! Recipients' recently active conversations.

use quick_cache::sync::Cache;

use crate::{domain::ConversationId, store::RecipientKey};

/// The number of recipients remembered.
const MOST: usize = 65_536;

/// The conversation of each recipient that was active when the store was last asked.
pub(super) struct LastActive(Cache<RecipientKey, ConversationId>);

impl LastActive {
    pub(super) fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// Returns the conversation that was the recipient's active one.
    pub(super) fn of(&self, recipient: &RecipientKey) -> Option<ConversationId> {
        self.0.get(recipient)
    }

    /// Records the store's answer.
    pub(super) fn note(&self, recipient: &RecipientKey, active: &ConversationId) {
        if self.of(recipient).as_ref() != Some(active) {
            self.0.insert(recipient.clone(), active.clone());
        }
    }
}
