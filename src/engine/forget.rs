//! Forget.

use std::sync::Arc;

use crate::{
    domain::{
        Utterance,
        forget::{Forget, Forgotten, forget, would_forget},
        forgetting::Excess,
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

/// What became of it.
pub type ForgetReply = Applied<Selected>;

/// What was selected.
#[derive(Debug)]
pub struct Selected {
    /// The utterances as they were.
    pub utterances: Vec<Arc<Utterance>>,
    /// Why it is refused unless it is a dry run.
    pub excess: Option<Excess>,
}

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
        Ok(reply.naming(|selected| selected.utterances.clone()))
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
                let Forgotten { transition, utterances, excess, still_told, .. } = forgotten;
                let decision = Decision::of(transition, None, Selected { utterances, excess });
                Decision { named: Named { still_told, ..Named::default() }, ..decision }
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
            self.rehearse(&before, |before, context| would_forget(before, &call.forget, context)).await?;
        let Forgotten { transition, utterances, excess, still_told, .. } = forgotten;
        let mut done = Done::rehearsed(&before, transition, self.now_for(&before));
        Arc::make_mut(&mut done.outcome).still_told = still_told;
        Ok(Applied::now(done, Selected { utterances, excess }))
    }
}
