//! Forget, soft or hard.

use std::sync::Arc;

use crate::{
    Address, Applied, Attempt, Caller, Engine, Operation, Result,
    applied::RuleResult,
    events::facts::Named,
    lane::queued::WriteCall,
    write::{erase::Erasure, reach::Gone},
};
use utterd_domain::{
    Conversation, Undecided, Utterance,
    change::Context,
    forget::{
        Forget, ForgetSelected, Forgotten, How, erasure::InForks, forget, forget_selected, would_forget,
    },
    forgetting::Excess,
};

/// What to forget, and where.
#[derive(Clone, Debug)]
pub struct ForgetCall {
    /// The conversation.
    pub address: Address,
    /// What to forget, and how.
    pub forget: ToForget,
    /// Decide, but change nothing.
    pub dry_run: bool,
    /// The request id of this attempt, if the caller gave one.
    pub attempt: Option<Attempt>,
}

/// What to forget.
#[derive(Clone, Debug)]
pub enum ToForget {
    /// The utterances selected by an instruction.
    Instructed(Forget),
    /// Utterances named by the caller.
    Named(ForgetSelected),
}

impl ToForget {
    /// Whether it is a hard forget.
    pub fn is_hard(&self) -> bool {
        match self {
            Self::Instructed(forget) => forget.hard,
            Self::Named(forget) => forget.how != How::Soft,
        }
    }

    fn decide(
        &self,
        before: &Conversation,
        context: &Context<'_>,
        told: impl Fn(&Conversation, &Forget, &Context<'_>) -> Result<Forgotten, Undecided>,
    ) -> Result<Forgotten, Undecided> {
        match self {
            Self::Instructed(command) => told(before, command, context),
            Self::Named(command) => forget_selected(before, command, context),
        }
    }

    /// Decides what is erased from this conversation and from others.
    fn erase(
        &self,
        before: &Conversation,
        context: &Context<'_>,
        told: impl Fn(&Conversation, &Forget, &Context<'_>) -> Result<Forgotten, Undecided>,
    ) -> Result<Erasure<Selected>, Undecided> {
        let imported = match self {
            Self::Instructed(command) => Some(command.instruction.at(context.now)),
            Self::Named(_) => None,
        };
        let exact = matches!(self, Self::Named(ForgetSelected { how: How::Exact, .. }));
        let forgotten = self.decide(before, context, told)?;
        let gone = Gone {
            sequences: forgotten.gone.clone(),
            exact,
            imported: imported.filter(|instruction| instruction.selects_imported(&before.summary)),
        };
        Ok(Erasure { gone, result: selected(before, forgotten) })
    }
}

impl From<Forget> for ToForget {
    fn from(forget: Forget) -> Self {
        Self::Instructed(forget)
    }
}

/// The result.
pub type ForgetReply = Applied<Selected>;

/// The selected utterances.
#[derive(Debug)]
pub struct Selected {
    /// The conversation before the call.
    pub before: Box<Conversation>,
    /// The utterances before the call.
    pub utterances: Vec<Arc<Utterance>>,
    /// Why the call would be refused without `dry_run`, if it would be.
    pub excess: Option<Excess>,
}

/// Returns the result of a rule that selected utterances.
fn selected(before: &Conversation, forgotten: Forgotten) -> RuleResult<Selected> {
    let Forgotten { transition, utterances, excess, still_told, .. } = forgotten;
    let named = Named { still_told, utterances: utterances.clone(), ..Named::default() };
    let value = Selected { before: Box::new(before.clone()), utterances, excess };
    RuleResult { named, ..RuleResult::of(transition, value) }
}

impl Engine {
    /// Forgets the selected utterances. Unless the call names exactly what to erase, the rest of their units
    /// is forgotten too.
    pub async fn forget(self: &Arc<Self>, caller: &Caller, call: ForgetCall) -> Result<ForgetReply> {
        match call.dry_run {
            true => self.would_forget(caller, &call).await,
            false => self.will_forget(caller, call).await,
        }
    }

    async fn will_forget(self: &Arc<Self>, caller: &Caller, call: ForgetCall) -> Result<ForgetReply> {
        let operation = if call.forget.is_hard() { Operation::Erase } else { Operation::Forget };
        let write = WriteCall::new(caller, call.address, call.attempt, operation);
        if call.forget.is_hard() {
            let (forgets, address) = (call.forget, write.address.clone());
            let erased =
                self.erase(write, move |before, context| forgets.erase(before, context, forget)).await?;
            return erased.ok_or_else(|| address.not_found().into());
        }
        self.write(write, move |before, context| {
            Ok(selected(before, call.forget.decide(before, context, forget)?))
        })
        .await
    }

    /// Decides on the published state without committing.
    async fn would_forget(self: &Arc<Self>, caller: &Caller, call: &ForgetCall) -> Result<ForgetReply> {
        let before = self.read(caller, &call.address).await?;
        let command = call.forget.clone();
        let now = self.now_for(&before);
        if command.is_hard() {
            let erase = move |before: &Conversation, context: &Context<'_>| {
                command.erase(before, context, would_forget)
            };
            let Erasure { mut result, gone } = self.rehearse(&before, erase).await?;
            result.named.in_forks = Some(match &result.transition {
                Some(_) => self.would_reach(&before, &gone).await?,
                None => InForks::default(),
            });
            return Ok(Applied::rehearsed(&before, result, now));
        }
        let forgets = move |before: &Conversation, context: &Context<'_>| {
            Ok(selected(before, command.decide(before, context, would_forget)?))
        };
        Ok(Applied::rehearsed(&before, self.rehearse(&before, forgets).await?, now))
    }
}
