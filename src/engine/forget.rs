//! Forget.

use std::sync::Arc;

use crate::{
    domain::{
        Utterance,
        forget::{Forget, forget},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        applied::Done,
        facts::Named,
        queued::{Decision, IfAbsent, WriteCall},
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
    pub async fn forget(
        self: &Arc<Self>,
        caller: &Caller,
        call: ForgetCall,
    ) -> Result<ForgetReply, EngineError> {
        let reply = match call.dry_run {
            true => self.would_forget(caller, &call).await?,
            false => self.will_forget(caller, call).await?,
        };
        Ok(reply.naming(Vec::clone))
    }

    async fn will_forget(
        self: &Arc<Self>,
        caller: &Caller,
        call: ForgetCall,
    ) -> Result<ForgetReply, EngineError> {
        let write = WriteCall {
            caller: caller.clone(),
            address: call.address,
            attempt: call.attempt,
            operation: if call.forget.hard { Operation::Erase } else { Operation::Forget },
            if_absent: IfAbsent::Refuse,
            answers: false,
        };
        if call.forget.hard {
            return self.erase(write, call.forget).await;
        }
        self.write(write, move |before, context| {
            Ok(forget(before, &call.forget, context)?.map(|forgotten| {
                let decision = Decision::of(forgotten.transition, None, forgotten.utterances);
                Decision { named: Named { still_told: forgotten.still_told, ..Named::default() }, ..decision }
            }))
        })
        .await
    }

    /// Decides on the published state and commits nothing.
    async fn would_forget(
        self: &Arc<Self>,
        caller: &Caller,
        call: &ForgetCall,
    ) -> Result<ForgetReply, EngineError> {
        let before = self.read(caller, &call.address).await?;
        let forgotten =
            self.rehearse(&before, |before, context| forget(before, &call.forget, context)).await?;
        let mut done = Done::rehearsed(&before, forgotten.transition);
        Arc::make_mut(&mut done.outcome).still_told = forgotten.still_told;
        Ok(Applied::now(done, forgotten.utterances))
    }
}
