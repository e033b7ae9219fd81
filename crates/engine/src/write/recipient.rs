//! Deleting a recipient.

use std::sync::Arc;

use crate::{Caller, Engine, EngineError, Operation, Result, events::Event};
use utterd_domain::{Conversation, ConversationId, ConversationKey, RecipientId, Refusal};

/// The numbers of conversations and utterances removed for a recipient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipientRemoval {
    /// Conversations.
    pub conversations: u64,
    /// Utterances stored in them.
    pub utterances: u64,
}

impl Engine {
    /// Removes every conversation of a recipient, even those that start meanwhile: everything stored in it,
    /// its entries in all lists, and the active pointer. Then removes the recipient's own state.
    ///
    /// - Each conversation is removed in its own commit, and so is the state. A failure leaves the rest in
    ///   place, and the call can be repeated.
    /// - Outcomes of request ids stay until they are too old. They contain references, never text. Without
    ///   them, a retry of an earlier call would store the removed text again.
    pub async fn delete_recipient(
        self: &Arc<Self>,
        caller: &Caller,
        recipient: &RecipientId,
    ) -> Result<RecipientRemoval> {
        let key = caller.recipient(recipient.clone());
        let state = caller.key(ConversationId::of_state(recipient));
        let mut removal = RecipientRemoval::default();
        // others may have started meanwhile, and the state with them: goes on as long as that makes progress
        let mut goes_on = true;
        while goes_on {
            let before = removal.conversations;
            for key in self.keys_of(&key).await? {
                if let Some(removed) = self.remove_of(recipient, &key).await? {
                    removal.conversations += 1;
                    removal.utterances += removed.head.stored;
                }
            }
            goes_on = removal.conversations > before
                || self.remove(&state, Operation::DeleteRecipient, |_| Ok(())).await?.is_some();
        }
        let count = usize::try_from(removal.conversations).unwrap_or(usize::MAX);
        self.record(Event::wide(Operation::DeleteRecipient, caller, Some(recipient.clone()), count)).await?;
        Ok(removal)
    }

    /// Removes a recipient's conversation; `None` if it no longer exists or belongs to another recipient.
    async fn remove_of(
        self: &Arc<Self>,
        recipient: &RecipientId,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>> {
        // its id may belong to another recipient by now
        let owner = recipient.clone();
        let owned = move |state: &Conversation| match state.head.identity.recipient == owner {
            true => Ok(()),
            false => Err(Refusal::no_conversation(state.key().id.as_str(), "")),
        };
        match self.remove(key, Operation::DeleteConversation, owned).await {
            Err(EngineError::Refused(_)) => Ok(None),
            removed => removed,
        }
    }
}
