//! A hard forget: it reaches every conversation that has something of what is forgotten, in one commit.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    domain::{
        Conversation, ConversationKey, Verdict,
        change::Context,
        erasure::erase_lost,
        forget::{Forget, Forgotten, forget},
    },
    engine::{
        Applied, Engine, EngineError, ForgetReply, Selected,
        applied::Decided,
        attended::Attended,
        commit::{Extras, Part, Uncommitted},
        facts::Named,
        hold::{Hold, held, hold_all},
        queued::{ATTEMPTS, Target, WriteCall},
        reach::Reached,
        write::Aimed,
    },
};

/// How an attempt ends.
enum Erased {
    Done(ForgetReply),
    /// It reaches these conversations, of which not all are held.
    Reaches(BTreeSet<ConversationKey>),
    /// The recipient's conversation is another one by now.
    Elsewhere,
}

impl Engine {
    /// Takes what the instruction selects out of the conversation and of all that share or repeat it.
    pub(super) async fn erase(
        self: &Arc<Self>,
        call: WriteCall,
        command: Forget,
    ) -> Result<ForgetReply, EngineError> {
        let engine = self.clone();
        Attended::new(async move {
            let mut keys = BTreeSet::new();
            for _ in 0..ATTEMPTS {
                let target = match engine.aim(&call).await? {
                    Aimed::At(target) => target,
                    Aimed::Earlier(outcome) => return engine.earlier(&call.caller, outcome).await,
                };
                keys.insert(target.key.clone());
                let holds = hold_all(&engine, &keys).await?;
                let meant = target.clone();
                match engine.erase_held(&call, &command, target, &holds).await {
                    Ok(Erased::Done(reply)) => return Ok(reply),
                    Ok(Erased::Reaches(more)) => keys = more,
                    Ok(Erased::Elsewhere) | Err(Uncommitted::Conflict(_)) => {}
                    Err(error) if error.is_refusal() && engine.is_outdated(&call, &meant).await? => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(EngineError::Contended)
        })
        .await
    }

    /// Erases, if all that it reaches are held.
    async fn erase_held(
        &self,
        call: &WriteCall,
        command: &Forget,
        mut target: Target,
        holds: &[Hold],
    ) -> Result<Erased, Uncommitted> {
        let hold = held(holds, &target.key).ok_or(EngineError::Interrupted)?;
        let Some(before) = hold.state_since(target.seen.take()).await? else { return gone(call, &target) };
        if call.address.conversation.is_none() && !call.address.may_mean(&before) {
            return Ok(Erased::Elsewhere);
        }
        call.address.check_recipient(&before).map_err(EngineError::from)?;
        let Forgotten { transition, utterances, gone, excess, .. } =
            self.rehearse(&before, |before, context| forget(before, command, context)).await?;
        let reached = match &transition {
            Some(_) => {
                let instruction = command.instruction.at(self.now_for(&before));
                let imported = instruction.selects_imported(&before.summary).then_some(&instruction);
                self.reach(&before, &gone, imported, holds).await?
            }
            None => Reached::default(),
        };
        if !reached.unheld.is_empty() {
            return Ok(Erased::Reaches(reached.lost.into_keys().collect()));
        }
        let commit = self.next_change();
        let first = transition.map(|transition| Decided::of(transition, commit));
        let mut parts = Vec::new();
        if let Some(first) = &first {
            parts.push(Part::from(hold, &before).and(first, call.operation, call.attempt.as_ref()));
            for (other, lost) in &reached.lost {
                let hold = held(holds, other).ok_or(EngineError::Interrupted)?;
                let Some(before) = hold.state().await? else { continue };
                let erased = |before: &Conversation, context: &Context<'_>| {
                    Ok(erase_lost(before, lost, context).map_or_else(Verdict::Need, Verdict::Decided))
                };
                if let Some(transition) = self.rehearse(&before, erased).await? {
                    let decided = Decided::of(transition, commit);
                    let part = Part::from(hold, &before);
                    parts.push(part.and(&decided, call.operation, call.attempt.as_ref()));
                }
            }
        }
        let done = self.done(call, &before, first.as_ref(), Named::default());
        let outcomes = call.kept(&done).into_iter().collect();
        let pointers = target.pointer.into_iter().filter(|_| first.is_some()).collect();
        self.commit(&mut parts, Extras { pointers, outcomes }).await?;
        Ok(Erased::Done(Applied::now(done, Selected { utterances, excess })))
    }
}

/// What a conversation that is not there means: to a recipient's call, that another is meant.
fn gone(call: &WriteCall, target: &Target) -> Result<Erased, Uncommitted> {
    match target.exists {
        true => Ok(Erased::Elsewhere),
        false => Err(EngineError::from(call.address.not_found()).into()),
    }
}
