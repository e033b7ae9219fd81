//! Reading and updating state: the named values of a conversation or of a recipient.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Verdict,
        state::{StateValue, UpdateState, update_state},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        events::Event,
        queued::{Decision, IfAbsent, WriteCall},
    },
};

/// The changes to make to a state.
#[derive(Clone, Debug)]
pub struct UpdateStateCall {
    /// The conversation, or [a recipient's own state](Address::of_state).
    pub address: Address,
    /// The changes.
    pub update: UpdateState,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

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
    ) -> Result<StateReply, EngineError> {
        let state = self.read_or_blank(caller, address).await?;
        let values = self.store.state(state.key(), names).await?;
        self.events.push(Event::read(Operation::GetState, &state, values.len()));
        Ok(StateReply { state, values })
    }

    /// Sets and deletes values of a state.
    pub async fn update_state(
        self: &Arc<Self>,
        caller: &Caller,
        call: UpdateStateCall,
    ) -> Result<Applied<()>, EngineError> {
        let starts = call.address.is_of_state();
        let mut write = WriteCall::new(caller, call.address, call.attempt, Operation::UpdateState);
        if starts {
            write.if_absent = IfAbsent::Create;
        }
        self.write(write, move |before, context| {
            let transition = update_state(before, &call.update, context)?;
            Ok(Verdict::Decided(Decision::of(Some(transition), None, ())))
        })
        .await
    }
}
