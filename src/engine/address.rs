//! Which conversation a request means.

use crate::{
    domain::{Conversation, ConversationId, ConversationKey, Namespace, Reason, RecipientId, Refusal},
    store::RecipientKey,
};

/// Who calls.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The tenant that the caller's credential names.
    pub namespace: Namespace,
}

/// A conversation by its id, or a recipient's active one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// Its recipient.
    pub recipient: Option<RecipientId>,
}

const START_IT: &str = "; Memorize or CreateConversation starts it";
const START_ONE: &str = "; Memorize or CreateConversation starts one";

impl Address {
    /// What keeps a recipient's own state.
    pub fn of_state(recipient: RecipientId) -> Self {
        Self { conversation: Some(ConversationId::of_state(&recipient)), recipient: Some(recipient) }
    }

    /// Whether it is that. It need not exist: then there is no state.
    pub(super) fn is_of_state(&self) -> bool {
        self.conversation.as_ref().is_some_and(ConversationId::is_of_state)
    }

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

    /// Whether a recipient's conversation may be `conversation`: it is not when that has ended, or is
    /// another's, since the pointer was read.
    pub(super) fn may_mean(&self, conversation: &Conversation) -> bool {
        let owner = &conversation.head.identity.recipient;
        conversation.head.ended.is_none() && self.recipient_or_default() == *owner
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
