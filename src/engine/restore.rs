//! Restore.

use crate::{
    domain::restore::{Restore, restore},
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        write::{Decision, Missing, WriteCall},
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

/// What became of it.
pub type RestoreReply = Applied<()>;

impl Engine {
    /// Brings soft-forgotten units back.
    pub async fn restore(&self, caller: &Caller, call: RestoreCall) -> Result<RestoreReply, EngineError> {
        let write = WriteCall {
            caller,
            address: &call.address,
            attempt: call.attempt.as_ref(),
            operation: Operation::Restore,
            missing: Missing::Refuse,
            releases: false,
            resolved: None,
        };
        self.write(write, |before, context| {
            Ok(restore(before, &call.restore, context)?.map(|transition| Decision {
                transition,
                target: None,
                value: (),
            }))
        })
        .await
    }
}
