//! Exports conversations: everything that they store, in order.

use std::sync::Arc;

use crate::{Address, Caller, Engine, Operation, Result, events::Event};
use utterd_domain::{Conversation, ConversationId, Utterance, state::StateValue};

/// A conversation with all its live utterances, in archive and window.
#[derive(Debug)]
pub struct Exported {
    /// The state it was read from.
    pub state: Arc<Conversation>,
    /// Its utterances, ascending, without the forgotten ones.
    pub utterances: Vec<Arc<Utterance>>,
    /// The values of the conversation's state, by name, as they were when it was read or later.
    pub values: Vec<Arc<StateValue>>,
}

impl Engine {
    /// Reads a whole conversation.
    pub async fn export_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Exported> {
        let state = self.read(caller, address).await?;
        let utterances = self.everything(&state).await?;
        self.events.push(Event::read(Operation::ExportConversation, &state, utterances.len()));
        let values = match state.head.state.is_empty() {
            true => Vec::new(),
            false => self.store.state(state.key(), &[]).await?,
        };
        Ok(Exported { state, utterances, values })
    }

    /// Returns the ids of all conversations of the addressed recipient, by start time.
    pub async fn conversations_of(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Vec<ConversationId>> {
        let recipient = caller.recipient(address.recipient_or_default());
        let keys = self.keys_of(&recipient).await?;
        Ok(keys.into_iter().rev().map(|key| key.id).collect())
    }
}
