//! UpdateConversation and UpdateUtterance.

use std::sync::Arc;

use crate::{
    domain::{
        Utterance,
        update::{Update, UpdateUtterance, update, update_utterance},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        write::{Decision, Missing, WriteCall},
    },
};

/// What to change about a conversation.
#[derive(Clone, Debug)]
pub struct UpdateCall {
    /// The conversation.
    pub address: Address,
    /// The changes.
    pub update: Update,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it.
pub type UpdateReply = Applied<()>;

/// What to change about an utterance.
#[derive(Clone, Debug)]
pub struct UpdateUtteranceCall {
    /// The conversation.
    pub address: Address,
    /// The changes.
    pub update: UpdateUtterance,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it, and the utterance as it is now.
pub type UpdateUtteranceReply = Applied<Arc<Utterance>>;

impl Engine {
    /// Changes a conversation's title, labels or policy.
    pub async fn update_conversation(
        &self,
        caller: &Caller,
        call: UpdateCall,
    ) -> Result<UpdateReply, EngineError> {
        let write = WriteCall {
            caller,
            address: &call.address,
            attempt: call.attempt.as_ref(),
            operation: Operation::UpdateConversation,
            missing: Missing::Refuse,
            releases: false,
            resolved: None,
        };
        self.write(write, |before, context| {
            Ok(update(before, &call.update, context)?.map(|transition| Decision {
                transition: Some(transition),
                target: None,
                value: (),
            }))
        })
        .await
    }

    /// Changes an utterance's pin or metadata.
    pub async fn update_utterance(
        &self,
        caller: &Caller,
        call: UpdateUtteranceCall,
    ) -> Result<UpdateUtteranceReply, EngineError> {
        let write = WriteCall {
            caller,
            address: &call.address,
            attempt: call.attempt.as_ref(),
            operation: Operation::UpdateUtterance,
            missing: Missing::Refuse,
            releases: false,
            resolved: None,
        };
        self.write(write, |before, context| {
            Ok(update_utterance(before, &call.update, context)?.map(|updated| Decision {
                transition: updated.transition,
                target: Some(updated.utterance.sequence),
                value: updated.utterance,
            }))
        })
        .await
    }
}
