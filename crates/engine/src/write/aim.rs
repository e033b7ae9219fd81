//! Where a write goes: the conversation that its address means, unless the attempt was already made.

use std::sync::Arc;

use crate::{
    Engine, EngineError, Result,
    lane::queued::{Answer, IfAbsent, Target, WriteCall},
};
use utterd_domain::{ConversationId, Policy, Refusal};
use utterd_store::{List, Outcome, PointerWrite, RecipientKey};

/// Why a write is not put in a queue.
pub enum Unqueued {
    /// It failed.
    Failed(EngineError),
    /// The attempt was already made.
    Earlier(Arc<Outcome>),
}

impl<E: Into<EngineError>> From<E> for Unqueued {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Engine {
    /// Returns the conversation a write goes to, or the outcome of an earlier attempt with the same id.
    ///
    /// - Fails if that attempt had another body, or if the recipient has no active conversation and the write
    ///   may not start one.
    /// - Does not ask the store if it `may_assume` the answer and has a likely one.
    pub(crate) async fn aim(&self, call: &WriteCall, may_assume: bool) -> Result<Target, Unqueued> {
        let WriteCall { caller, address, attempt, if_absent, .. } = call;
        let recipient = caller.recipient(address.recipient_or_default());
        if may_assume && let Some(target) = self.assumed(address, &recipient) {
            return Ok(target);
        }
        let may_start = address.conversation.as_ref().filter(|_| *if_absent == IfAbsent::CreateAndActivate);
        let exists = may_start.is_some_and(|id| self.surely_exists(&caller.key(id.clone())));
        let activates = may_start.is_some() && !exists;
        let key = call.outcome_key();
        let active = address.conversation.is_none() || activates;
        let asked = self.ask(address, &recipient, active, key.as_ref()).await?;
        if let (Some(outcome), Some(attempt)) = (asked.outcome, attempt) {
            return match outcome.body == attempt.body {
                true => Err(Unqueued::Earlier(outcome)),
                false => Err(Refusal::RequestIdReused(attempt.id.to_string()).into()),
            };
        }
        let pointer = |before: Option<ConversationId>, after: &ConversationId| {
            Some(PointerWrite { recipient: recipient.clone(), before, after: Some(after.clone()) })
        };
        let seen = asked.seen;
        let at = |id, pointer, exists| Target { key: caller.key(id), pointer, exists, seen, policy: None };
        Ok(match (&address.conversation, asked.active) {
            (Some(id), None) if activates => at(id.clone(), pointer(None, id), false),
            (Some(id), _) => at(id.clone(), None, exists),
            (None, Some(id)) => at(id.clone(), pointer(Some(id.clone()), &id), true),
            (None, None) if *if_absent == IfAbsent::Refuse => return Err(address.not_found().into()),
            (None, None) => {
                let id = self.new_conversation_id();
                let policy = Some(Box::new(self.next_policy(&recipient).await?));
                Target { policy, ..at(id.clone(), pointer(None, &id), false) }
            }
        })
    }

    /// Returns the policy of the recipient's next conversation: that of its newest one, by default the server's.
    pub(crate) async fn next_policy(&self, recipient: &RecipientKey) -> Result<Policy> {
        let newest = self.store.list(List::newest(recipient, 1)).await?.pop();
        Ok(newest.map_or_else(|| self.defaults.policy.clone(), |head| head.policy))
    }

    /// Returns the answer to a write that was not committed: its error, or, if the error is an outdated
    /// refusal, `None`: the write must be resolved again.
    pub(crate) async fn refused(&self, call: &WriteCall, target: &Target, error: EngineError) -> Answer {
        // boxed: rarely needed, and large
        match matches!(error, EngineError::Refused(_)) {
            true => match Box::pin(self.is_outdated(call, target)).await {
                Ok(true) => None,
                Ok(false) => Some(Err(error)),
                Err(unknown) => Some(Err(unknown)),
            },
            false => Some(Err(error)),
        }
    }
}
