//! A hard forget: it reaches every conversation that shares what is forgotten, in one commit.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    domain::{
        Conversation, ConversationKey, Loaded, Sequence,
        change::Context,
        forget::{Forget, Forgotten, erase_shared, forget},
    },
    engine::{
        Applied, Engine, EngineError, ForgetReply, Selected,
        applied::Decided,
        attended::Attended,
        commit::{Extras, Part, Uncommitted},
        facts::Named,
        hold::{Hold, held, hold_all},
        queued::{ATTEMPTS, Target, WriteCall},
        write::Aimed,
    },
};

/// How an attempt ends.
enum Erased {
    Done(ForgetReply),
    /// These conversations share what is to be forgotten, too.
    Shared(BTreeSet<ConversationKey>),
    /// The recipient's conversation is another one by now.
    Elsewhere,
}

impl Engine {
    /// Takes what the instruction selects out of the conversation and of all that share it.
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
                    Ok(Erased::Shared(more)) => keys = more,
                    Ok(Erased::Elsewhere) | Err(Uncommitted::Conflict(_)) => {}
                    Err(error) if error.is_refusal() && engine.is_outdated(&call, &meant).await? => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(EngineError::Contended)
        })
        .await
    }

    /// Erases, if all that share the conversation are held.
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
        let sharing = self.sharing(&before).await?;
        if sharing.iter().any(|(other, _)| held(holds, other).is_none()) {
            return Ok(Erased::Shared(sharing.into_iter().map(|(other, _)| other).collect()));
        }
        let Forgotten { transition, utterances, gone, excess, .. } =
            self.rehearse(&before, |before, context| forget(before, command, context)).await?;
        let commit = self.next_change();
        let first = transition.map(|transition| Decided::of(transition, commit));
        let mut parts = Vec::new();
        if let Some(first) = &first {
            parts.push(Part::from(hold, &before).and(first, call.operation, call.attempt.as_ref()));
            for (other, through) in sharing {
                let hold = held(holds, &other).ok_or(EngineError::Interrupted)?;
                let Some(before) = hold.state().await? else { continue };
                if let Some(transition) = erase_shared(&before, &gone, through, &self.context_for(&before)) {
                    let decided = Decided::of(transition, commit);
                    let part = Part::from(hold, &before);
                    parts.push(part.and(&decided, call.operation, call.attempt.as_ref()));
                }
            }
        }
        let done = self.done(call, &before, first.as_ref(), Named::default());
        let outcomes = call.kept(&done).into_iter().collect();
        let pointers = target.pointer.into_iter().filter(|_| first.is_some()).collect();
        let changed: Vec<_> = parts.iter().filter_map(|part| part.newest().cloned()).collect();
        self.commit(&mut parts, Extras { pointers, outcomes }).await?;
        changed.iter().for_each(|state| self.indexes.remove(state.head.identity.lineage));
        Ok(Erased::Done(Applied::now(done, Selected { utterances, excess })))
    }

    /// What a rule is told that needs nothing of the store.
    fn context_for<'a>(&self, before: &Conversation) -> Context<'a> {
        const NOTHING: &Loaded = &Loaded::new();
        let counter = self.counter(before.head.identity.encoding);
        Context { now: self.now_for(before), counter, loaded: NOTHING, llm: self.has_summarizer() }
    }

    /// The other conversations that share what `state` holds, which is held; each with the last sequence that
    /// both share.
    async fn sharing(&self, state: &Conversation) -> Result<Vec<(ConversationKey, Sequence)>, EngineError> {
        match state.head.trunks.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(self.store.sharing(state.key()).await?),
        }
    }
}

/// What a conversation that is not there means: to a recipient's call, that another is meant.
fn gone(call: &WriteCall, target: &Target) -> Result<Erased, Uncommitted> {
    match target.exists {
        true => Ok(Erased::Elsewhere),
        false => Err(EngineError::from(call.address.not_found()).into()),
    }
}
