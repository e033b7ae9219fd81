//! What the lists must tell of a conversation.

use crate::RecipientKey;
use utterd_domain::{ChangeId, Conversation, ConversationKey, RecipientId};

/// What the lists must tell of a conversation.
pub(super) struct Listed {
    pub(super) key: ConversationKey,
    pub(super) recipient: RecipientId,
    /// The state in which it was read.
    pub(super) change: ChangeId,
    pub(super) has_ended: bool,
    pub(super) expires: bool,
    pub(super) waits: bool,
}

impl Listed {
    pub(super) fn of(state: &Conversation) -> Self {
        Self {
            key: state.key().clone(),
            recipient: state.head.identity.recipient.clone(),
            change: state.head.change,
            has_ended: state.head.ended.is_some(),
            expires: state.head.expire_time().is_some(),
            waits: state.awaits_since().is_some(),
        }
    }

    /// Whether it has ended, expires, or waits for a model.
    pub(super) fn is_any(&self) -> bool {
        self.has_ended || self.expires || self.waits
    }

    pub(super) fn owner(&self) -> RecipientKey {
        RecipientKey { namespace: self.key.namespace.clone(), id: self.recipient.clone() }
    }
}
