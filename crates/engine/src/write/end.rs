//! Clears the recipient's pointer to a conversation that ends or is deleted, and prepares the one that
//! follows.

use std::sync::Arc;

use crate::{Address, Engine, Result};
use utterd_domain::{Conversation, ConversationKey};
use utterd_store::{PointerWrite, RecipientKey};

impl Engine {
    /// Returns the pointer write that clears the recipient's active conversation, if it is this one. Its queue
    /// must be held.
    pub(crate) async fn release(&self, state: &Conversation) -> Result<Option<PointerWrite>> {
        let identity = &state.head.identity;
        let active = self.is_active(state).await?;
        Ok(active.then(|| PointerWrite {
            recipient: RecipientKey::of(identity),
            before: Some(identity.key.id.clone()),
            after: None,
        }))
    }

    /// Returns the conversation that follows one that ended, before its first revision.
    pub(crate) fn successor(&self, key: ConversationKey, ended: &Conversation) -> Arc<Conversation> {
        let (recipient, encoding) = (&ended.head.identity.recipient, ended.head.identity.encoding);
        let address = Address { recipient: Some(recipient.clone()), ..Address::default() };
        let identity = self.identity(key, &address, encoding, self.now_for(ended));
        Arc::new(Conversation::new(identity, ended.head.policy.clone()))
    }
}
