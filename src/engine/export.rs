//! ExportConversation: everything that is stored of a conversation, in its order.

use std::sync::Arc;

use crate::{
    domain::{Conversation, ConversationId, Timestamp, Utterance, state::StateValue},
    engine::{Address, Caller, Engine, EngineError, Operation, conversations::place, events::Event},
    store::Page,
};

/// A conversation with everything that takes part in it, of the archive and the window.
#[derive(Debug)]
pub struct Exported {
    /// The state that it was read from.
    pub state: Arc<Conversation>,
    /// Its utterances, ascending, without those that are forgotten.
    pub utterances: Vec<Arc<Utterance>>,
    /// The values beside it, by name, as they were after that or later.
    pub values: Vec<Arc<StateValue>>,
}

/// Conversations of a recipient that are listed at a time.
const PAGE: usize = 256;

impl Engine {
    /// Reads a conversation whole.
    pub async fn export_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Exported, EngineError> {
        let state = self.read(caller, address).await?;
        let utterances = self.everything(&state).await?;
        self.events.push(Event::read(Operation::ExportConversation, &state, utterances.len()));
        let values = match state.head.state.is_empty() {
            true => Vec::new(),
            false => self.store.state(state.key(), &[]).await?,
        };
        Ok(Exported { state, utterances, values })
    }

    /// The ids of all conversations of the addressed recipient, the one that started first first.
    pub async fn conversations_of(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Vec<ConversationId>, EngineError> {
        let recipient = caller.recipient(address.recipient_or_default());
        let (mut ids, mut after) = (Vec::new(), None::<(Timestamp, ConversationId)>);
        loop {
            let page = self.store.conversations(&recipient, Page { after, limit: PAGE }).await?;
            ids.extend(page.iter().map(|head| head.identity.key.id.clone()));
            let last = page.last().map(place);
            if page.len() < PAGE {
                ids.reverse();
                return Ok(ids);
            }
            after = last;
        }
    }
}
