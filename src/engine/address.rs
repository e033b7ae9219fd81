//! Which conversation a request means.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationId, ConversationKey, Namespace, Reason, RecipientId, Refusal},
    engine::{Engine, EngineError},
    store::RecipientKey,
};

/// Who calls.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The tenant that the caller's credential names.
    pub namespace: Namespace,
}

/// A conversation by its id, or a recipient's active one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// Its recipient.
    pub recipient: Option<RecipientId>,
}

const START_IT: &str = "; Memorize or CreateConversation starts it";
const START_ONE: &str = "; Memorize or CreateConversation starts one";

impl Address {
    /// The recipient, or `default`.
    pub fn recipient_or_default(&self) -> RecipientId {
        self.recipient.clone().unwrap_or_default()
    }

    /// Refuses when `conversation` is another recipient's than the one addressed.
    pub(super) fn check_recipient(&self, conversation: &Conversation) -> Result<(), Refusal> {
        let owner = &conversation.head.identity.recipient;
        match &self.recipient {
            Some(recipient) if recipient != owner => Err(Refusal::field(
                Reason::RecipientMismatch,
                "recipient_id",
                format!(
                    "is {recipient:?}, but the conversation {:?} is of another recipient; leave it out, or name that one",
                    conversation.key().id
                ),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn not_found(&self) -> Refusal {
        match &self.conversation {
            Some(id) => Refusal::no_conversation(id.as_str(), START_IT),
            None => Refusal::no_active_conversation(self.recipient_or_default().as_str(), START_ONE),
        }
    }
}

impl Caller {
    pub(super) fn key(&self, id: ConversationId) -> ConversationKey {
        ConversationKey { namespace: self.namespace.clone(), id }
    }

    pub(super) fn recipient(&self, id: RecipientId) -> RecipientKey {
        RecipientKey { namespace: self.namespace.clone(), id }
    }
}

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
    pub async fn read(&self, caller: &Caller, address: &Address) -> Result<Arc<Conversation>, EngineError> {
        let id = self.resolve(caller, address).await?.ok_or_else(|| address.not_found())?;
        let state = self.published(&caller.key(id)).await?.ok_or_else(|| address.not_found())?;
        address.check_recipient(&state)?;
        Ok(state)
    }
}
