//! Restore: bringing back soft-forgotten units.

use std::sync::Arc;

use crate::{
    domain::restore::{Restore, restore},
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        queued::{Decision, WriteCall},
    },
};

/// What to restore, and where.
#[derive(Clone, Debug)]
pub struct RestoreCall {
    /// The conversation.
    pub address: Address,
    /// The utterances.
    pub restore: Restore,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result.
pub type RestoreReply = Applied<()>;

impl Engine {
    /// Restores soft-forgotten units.
    pub async fn restore(
        self: &Arc<Self>,
        caller: &Caller,
        call: RestoreCall,
    ) -> Result<RestoreReply, EngineError> {
        let write = WriteCall::new(caller, call.address, call.attempt, Operation::Restore);
        self.write(write, move |before, context| {
            Ok(restore(before, &call.restore, context)?.map(|transition| Decision::of(transition, None, ())))
        })
        .await
    }
}
