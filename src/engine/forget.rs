//! Forget.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Utterance,
        change::Context,
        forget::{Forget, forget},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        write::{Decision, Missing, WriteCall},
    },
};

/// What to forget, and where.
#[derive(Clone, Debug)]
pub struct ForgetCall {
    /// The conversation.
    pub address: Address,
    /// What is selected, and how.
    pub forget: Forget,
    /// Decides and changes nothing.
    pub dry_run: bool,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it, and the utterances as they were.
pub type ForgetReply = Applied<Vec<Arc<Utterance>>>;

impl Engine {
    /// Forgets the units of what the instruction selects.
    pub async fn forget(&self, caller: &Caller, call: ForgetCall) -> Result<ForgetReply, EngineError> {
        if call.dry_run {
            return self.rehearse(caller, &call).await;
        }
        if call.forget.hard {
            return self.erase(caller, &call).await;
        }
        let write = WriteCall {
            caller,
            address: &call.address,
            attempt: call.attempt.as_ref(),
            operation: Operation::Forget,
            missing: Missing::Refuse,
            releases: false,
            resolved: None,
        };
        self.write(write, |before, context| {
            Ok(forget(before, &call.forget, context)?.map(|forgotten| Decision {
                transition: forgotten.transition,
                target: None,
                value: forgotten.utterances,
            }))
        })
        .await
    }

    /// Decides on the published state and commits nothing.
    async fn rehearse(&self, caller: &Caller, call: &ForgetCall) -> Result<ForgetReply, EngineError> {
        let before: Arc<Conversation> = self.read(caller, &call.address).await?;
        let now = self.clock.now();
        let mut decide = |before: &Conversation, context: &Context<'_>| forget(before, &call.forget, context);
        let forgotten = self.decide_on(&before, None, now, &mut decide).await?;
        let (change, after) = match forgotten.transition {
            Some(transition) => (Some(Arc::new(transition.change)), Arc::new(transition.after)),
            None => (None, before),
        };
        Ok(Applied::Now { after, change, ended: None, value: forgotten.utterances })
    }
}
