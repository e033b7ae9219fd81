//! DeleteRecipient.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationId, Head, RecipientId, Refusal},
    engine::{Caller, Engine, EngineError, Operation, conversations::place, events::Event},
    store::Page,
};

/// What was removed of a recipient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipientRemoval {
    /// Conversations.
    pub conversations: u64,
    /// Utterances that were stored in them.
    pub utterances: u64,
}

/// Conversations that are listed at a time.
const BATCH: usize = 256;

impl Engine {
    /// Removes every conversation of a recipient, also those that start meanwhile; with them all that
    /// is stored in them, their places in every list, and the pointer to the active one. Then its own state.
    ///
    /// - Each conversation goes in a commit of its own, and so does the state: a failure leaves what is not removed
    ///   yet, and the call can be repeated.
    /// - Outcomes of request ids stay until they are too old: they are kept by request, hold references
    ///   and never text, and without them a retry would store again what was removed.
    pub async fn delete_recipient(
        self: &Arc<Self>,
        caller: &Caller,
        recipient: &RecipientId,
    ) -> Result<RecipientRemoval, EngineError> {
        let key = caller.recipient(recipient.clone());
        let state = caller.key(ConversationId::of_state(recipient));
        let mut removal = RecipientRemoval::default();
        let mut after = None;
        loop {
            let heads = self.store.conversations(&key, Page { after, limit: BATCH }).await?;
            let Some(last) = heads.last() else {
                match self.remove(&state, Operation::DeleteRecipient, |_| Ok(())).await? {
                    // a conversation may have started with it meanwhile
                    Some(_) => after = None,
                    None => break,
                }
                continue;
            };
            let (before, behind) = (removal.conversations, place(last));
            for head in heads {
                if let Some(removed) = self.remove_of(recipient, &head).await? {
                    removal.conversations += 1;
                    removal.utterances += removed.head.stored;
                }
            }
            // from the start again, where new ones are listed, as long as that leads on
            after = (removal.conversations == before).then_some(behind);
        }
        let count = usize::try_from(removal.conversations).unwrap_or(usize::MAX);
        self.events.push(Event::wide(Operation::DeleteRecipient, caller, Some(recipient.clone()), count));
        Ok(removal)
    }

    /// Removes a recipient's conversation; `None` when another call has.
    async fn remove_of(
        self: &Arc<Self>,
        recipient: &RecipientId,
        head: &Head,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        // its name may be another's by now
        let owner = recipient.clone();
        let owned = move |state: &Conversation| match state.head.identity.recipient == owner {
            true => Ok(()),
            false => Err(Refusal::no_conversation(state.key().id.as_str(), "")),
        };
        match self.remove(&head.identity.key, Operation::DeleteConversation, owned).await {
            Err(EngineError::Refused(_)) => Ok(None),
            removed => removed,
        }
    }
}
