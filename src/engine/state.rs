//! GetState and UpdateState: named values beside a conversation.

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

/// What to change of a conversation's state.
#[derive(Clone, Debug)]
pub struct UpdateStateCall {
    /// The conversation.
    pub address: Address,
    /// The changes.
    pub update: UpdateState,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// Values that were read.
#[derive(Clone, Debug)]
pub struct StateReply {
    /// The conversation.
    pub state: Arc<Conversation>,
    /// The values, by name.
    pub values: Vec<Arc<StateValue>>,
}

impl Engine {
    /// Reads the values of these names of a conversation's state, or all where none is named.
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

    /// Sets and deletes values of a conversation's state.
    pub async fn update_state(
        self: &Arc<Self>,
        caller: &Caller,
        call: UpdateStateCall,
    ) -> Result<Applied<()>, EngineError> {
        let write = WriteCall {
            caller: caller.clone(),
            address: call.address,
            attempt: call.attempt,
            operation: Operation::UpdateState,
            if_absent: IfAbsent::Refuse,
            answers: false,
        };
        self.write(write, move |before, context| {
            let transition = update_state(before, &call.update, context)?;
            Ok(Verdict::Decided(Decision::of(Some(transition), None, ())))
        })
        .await
    }
}
