//! Reading state: the named values of a conversation or of a recipient.

use std::sync::Arc;

use crate::{Address, Caller, Engine, Operation, Result, events::Event};
use utterd_domain::{Conversation, state::StateValue};

/// The values that were read.
#[derive(Clone, Debug)]
pub struct StateReply {
    /// The conversation, or the one that stores the recipient's own state.
    pub state: Arc<Conversation>,
    /// The values, by name.
    pub values: Vec<Arc<StateValue>>,
}

impl Engine {
    /// Returns the values with these names, or all values if none is named.
    pub async fn state(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        names: &[Box<str>],
    ) -> Result<StateReply> {
        let state = self.read_or_blank(caller, address).await?;
        let values = self.store.state(state.key(), names).await?;
        self.events.push(Event::read(Operation::GetState, &state, values.len()));
        Ok(StateReply { state, values })
    }
}
