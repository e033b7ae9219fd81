//! Reading the conversation that an address means.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationId},
    engine::{Address, Caller, Engine, EngineError, queued::ATTEMPTS},
};

impl Engine {
    /// The conversation that is addressed, if its recipient has one.
    pub(super) async fn resolve(
        &self,
        caller: &Caller,
        address: &Address,
    ) -> Result<Option<ConversationId>, EngineError> {
        match &address.conversation {
            Some(id) => Ok(Some(id.clone())),
            None => Ok(self.store.active(&caller.recipient(address.recipient_or_default())).await?),
        }
    }

    /// The published state of the conversation that is addressed.
    pub async fn read(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Arc<Conversation>, EngineError> {
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let id = self.resolve(caller, address).await?.ok_or_else(|| address.not_found())?;
            let state = self.published(&caller.key(id.clone())).await?;
            // the recipient's conversation may have ended since: then another one is meant
            let is_last = address.conversation.is_some() || before.as_ref() == Some(&id);
            match state {
                Some(state) if is_last || address.may_mean(&state) => {
                    address.check_recipient(&state)?;
                    return Ok(state);
                }
                None if is_last => break,
                _ => before = Some(id),
            }
        }
        Err(address.not_found().into())
    }
}
