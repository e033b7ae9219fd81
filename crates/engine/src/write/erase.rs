//! Erasing: one commit removes the utterances from every conversation that shares them or has copies.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Applied, Engine, EngineError, Result,
    applied::{Decided, RuleResult},
    lane::{
        commit::{Extras, Part, Uncommitted},
        completed::complete,
        hold::{Hold, held},
        queued::{ATTEMPTS, IfAbsent, Target, WriteCall},
        recipient_state::RecipientStateWrite,
    },
    write::reach::{Gone, Reached, States},
};
use utterd_domain::{Conversation, ConversationKey, Undecided, change::Context, forget::erasure::InForks};
use utterd_store::PointerWrite;

/// The utterances that a rule erases from a conversation, and from all others that share them or have copies.
pub struct Erasure<T> {
    /// The result for that conversation.
    pub result: RuleResult<T>,
    /// What it erases.
    pub gone: Gone,
}

/// The result of an attempt.
enum Erased<T> {
    Done(Applied<T>),
    /// The erasure reaches these conversations, not all of which are held.
    Reaches(BTreeSet<ConversationKey>),
    /// The address means another conversation by now, or nothing would be erased from a state that may be outdated.
    Outdated,
    /// The conversation does not exist, and the call may start one.
    Absent,
}

impl Engine {
    /// Erases the utterances that the rule selects from the conversation, and from all others that share them
    /// or have copies. Returns `None` if the conversation does not exist, and the call may start one.
    pub(crate) async fn erase<T: Send + 'static>(
        self: &Arc<Self>,
        call: WriteCall,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<Erasure<T>, Undecided> + Send + Sync + 'static,
    ) -> Result<Option<Applied<T>>> {
        let engine = self.clone();
        let rule = Arc::new(rule);
        complete(async move {
            let mut keys = BTreeSet::new();
            for _ in 0..ATTEMPTS {
                let target = match engine.aim(&call, false).await {
                    Ok(target) => target,
                    Err(unqueued) => return engine.unqueued(&call.caller, unqueued).await.map(Some),
                };
                keys.insert(target.key.clone());
                let holds = engine.hold_all(&keys).await;
                let meant = target.clone();
                match engine.erase_held(&call, &rule, target, &holds).await {
                    Ok(Erased::Done(reply)) => return Ok(Some(reply)),
                    Ok(Erased::Absent) => return Ok(None),
                    Ok(Erased::Reaches(more)) => keys = more,
                    Ok(Erased::Outdated) | Err(Uncommitted::Conflict(_)) => {}
                    Err(error) if error.is_refusal() && engine.is_outdated(&call, &meant).await? => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(EngineError::Contended)
        })
        .await
    }

    /// Erases, if every conversation it reaches is held.
    async fn erase_held<T: Send + 'static>(
        self: &Arc<Self>,
        call: &WriteCall,
        rule: &Arc<
            impl Fn(&Conversation, &Context<'_>) -> Result<Erasure<T>, Undecided> + Send + Sync + 'static,
        >,
        mut target: Target,
        holds: &[Hold],
    ) -> Result<Erased<T>, Uncommitted> {
        let hold = held(holds, &target.key).ok_or(EngineError::Interrupted)?;
        let Some(before) = hold.state_since(target.seen.take()).await? else { return absent(call, &target) };
        if call.address.conversation.is_none() && !call.address.may_mean(&before) {
            return Ok(Erased::Outdated);
        }
        call.address.check_recipient(&before).map_err(EngineError::from)?;
        let rule = rule.clone();
        let erasure = self.rehearse(&before, move |before, context| rule(before, context)).await?;
        let Erasure { result: RuleResult { transition, mut named, value }, gone } = erasure;
        // the commit of a change finds that out
        if transition.is_none() && Box::pin(self.is_outdated(call, &target)).await? {
            return Ok(Erased::Outdated);
        }
        let known = states(holds, hold).await?;
        let reached = match &transition {
            Some(_) => self.reach(&before, &gone, &known).await?,
            None => Reached::default(),
        };
        if reached.keys().any(|key| !known.contains_key(key)) {
            return Ok(Erased::Reaches(reached.into_keys().collect()));
        }
        let commit = self.next_change();
        let first = transition.map(|transition| Decided::of(transition, commit));
        let (mut parts, mut in_forks) = (Vec::new(), InForks::default());
        if let Some(decided) = &first {
            parts.push(Part::from(hold, &before).and(decided, call.operation, call.attempt.as_ref()));
        }
        for (other, lost) in &reached {
            let both = held(holds, other).zip(known.get(other));
            let (hold, before) = both.ok_or(EngineError::Interrupted)?;
            if let Some(transition) = self.lose(before, lost).await? {
                in_forks.add(&transition);
                let decided = Decided::of(transition, commit);
                let part = Part::from(hold, before);
                parts.push(part.and(&decided, call.operation, call.attempt.as_ref()));
            }
        }
        let mut recipient_state = RecipientStateWrite::default();
        recipient_state.change(self, call, &before.head.identity, commit).await?;
        let (state, _hold) = recipient_state.done();
        parts.extend(state);
        named.in_forks = Some(in_forks);
        let applied = self.applied(call, &before, first.as_ref(), named);
        let outcomes = call.kept(&applied).into_iter().collect();
        // a conversation that exists already does not become the active one
        let stays = |pointer: &PointerWrite| first.is_some() && pointer.before.is_some();
        let pointers = target.pointer.into_iter().filter(stays).collect();
        self.commit(&mut parts, Extras { pointers, outcomes }).await?;
        Ok(Erased::Done(applied.with(value)))
    }
}

/// Returns the states of the conversations that are held beside `target`.
async fn states(holds: &[Hold], target: &Hold) -> Result<States> {
    let mut states = States::new();
    for hold in holds.iter().filter(|hold| hold.queue.key != target.queue.key) {
        states.extend(hold.state().await?.map(|state| (hold.queue.key.clone(), state)));
    }
    Ok(states)
}

/// Returns the result for a conversation that does not exist. If the target was resolved to an existing
/// conversation, the address means another one by now.
fn absent<T>(call: &WriteCall, target: &Target) -> Result<Erased<T>, Uncommitted> {
    match target.exists {
        true => Ok(Erased::Outdated),
        false if call.if_absent != IfAbsent::Refuse => Ok(Erased::Absent),
        false => Err(EngineError::from(call.address.not_found()).into()),
    }
}
