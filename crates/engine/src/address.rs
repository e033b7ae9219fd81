//! Which conversation a request means.

use std::time::Duration;

use utterd_domain::{Conversation, ConversationId, ConversationKey, Namespace, Reason, RecipientId, Refusal};
use utterd_store::RecipientKey;

/// The caller of a request.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The tenant named by the caller's credential.
    pub namespace: Namespace,
}

/// A conversation by its id, or a recipient's active one; and, for reads, how recent the state must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// Its recipient.
    pub recipient: Option<RecipientId>,
    /// A read may miss what other processes have committed to the store within this time. It never misses
    /// what this process has committed.
    pub max_staleness: Duration,
}

const START_IT: &str = "; Memorize or CreateConversation starts it";
const START_ONE: &str = "; Memorize or CreateConversation starts one";

impl Address {
    /// Returns the address of a recipient's own state.
    pub fn of_state(recipient: RecipientId) -> Self {
        let conversation = Some(ConversationId::of_state(&recipient));
        Self { conversation, recipient: Some(recipient), ..Self::default() }
    }

    /// Whether this is the address of a recipient's own state, which need not exist.
    pub(super) fn is_of_state(&self) -> bool {
        self.conversation.as_ref().is_some_and(ConversationId::is_of_state)
    }

    /// Returns the recipient, or `default`.
    pub fn recipient_or_default(&self) -> RecipientId {
        self.recipient.clone().unwrap_or_default()
    }

    /// Fails if `conversation` belongs to a recipient other than the one addressed.
    pub(super) fn check_recipient(&self, conversation: &Conversation) -> Result<(), Refusal> {
        let owner = &conversation.head.identity.recipient;
        match &self.recipient {
            Some(recipient) if recipient != owner => Err(Refusal::field(
                Reason::RecipientMismatch,
                "recipient_id",
                format!(
                    "is {recipient:?}, but the conversation {:?} belongs to another recipient; leave it out, or name the owner",
                    conversation.key().id
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Whether `conversation` can still be the recipient's active one. It cannot if it has ended since the
    /// pointer was read, or if it belongs to another recipient.
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
