//! A hard forget: it reaches every conversation that shares what is forgotten, in one commit.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    domain::{
        Conversation, ConversationKey, Loaded, Sequence, Utterance,
        change::Context,
        forget::{Forgotten, erase_shared, forget},
    },
    engine::{
        Applied, Caller, Engine, EngineError, ForgetCall, ForgetReply, Operation,
        settle::Settled,
        several::{Beside, Held, Step},
        write::ATTEMPTS,
    },
    store::CommitError,
};

/// How an attempt to hand a hard forget to the store ends.
enum Attempted {
    /// The store has it, if it changes anything.
    HandedOver(Settled, Applied<Vec<Arc<Utterance>>>, Vec<Arc<Conversation>>),
    /// These conversations share what is to be forgotten, too.
    Shared(BTreeSet<ConversationKey>),
    /// The recipient's conversation is another one by now.
    Again,
}

impl Engine {
    /// Takes what the instruction selects out of the conversation and of all that share it.
    pub(super) async fn erase(&self, caller: &Caller, call: &ForgetCall) -> Result<ForgetReply, EngineError> {
        let mut sharing = BTreeSet::new();
        for _ in 0..ATTEMPTS {
            if let Some(outcome) = self.earlier(caller, call.attempt.as_ref()).await? {
                return Ok(Applied::Earlier(self.references(caller, outcome).await?));
            }
            let id = self.resolve(caller, &call.address).await?.ok_or_else(|| call.address.not_found())?;
            let key = caller.key(id);
            sharing.insert(key.clone());
            let lanes = self.lanes_of(&sharing);
            let Some(mut held) = Held::all(&lanes).await else { continue };
            let attempted = self.erase_held(caller, call, &key, &mut held).await;
            self.let_all_go(held);
            let (settled, applied, changed) = match attempted? {
                Attempted::HandedOver(settled, applied, changed) => (settled, applied, changed),
                Attempted::Shared(more) => {
                    sharing = more;
                    continue;
                }
                Attempted::Again => continue,
            };
            match settled.result().await {
                Ok(()) => {
                    changed.iter().for_each(|state| self.indexes.remove(state.head.identity.lineage));
                    return Ok(applied);
                }
                Err(CommitError::Conflict) => {}
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(EngineError::Contended)
    }

    /// Hands a hard forget to the store, if the lanes of all that share the conversation are held.
    async fn erase_held(
        &self,
        caller: &Caller,
        call: &ForgetCall,
        key: &ConversationKey,
        held: &mut Held<'_>,
    ) -> Result<Attempted, EngineError> {
        let before = self.newest_held(held, key).await?.ok_or_else(|| call.address.not_found())?;
        call.address.check_recipient(&before)?;
        if held.is_elsewhere(&call.address, &before).await {
            return Ok(Attempted::Again);
        }
        let sharing = self.sharing(&before, held).await?;
        if sharing.iter().any(|(other, _)| !held.holds(other)) {
            return Ok(Attempted::Shared(sharing.into_iter().map(|(other, _)| other).collect()));
        }
        let now = self.clock.now();
        let lane = held.lane(key).map(|lane| &**lane);
        let mut decide = |before: &Conversation, context: &Context<'_>| forget(before, &call.forget, context);
        let Forgotten { transition, utterances, gone } =
            self.decide_on(&before, lane, now, &mut decide).await?;
        let outcome = |after: &Conversation, change| {
            let outcome = call.attempt.as_ref().map(|attempt| {
                let time = if transition.is_some() { after.head.update_time } else { now };
                (attempt.key(caller), Arc::new(attempt.outcome(time, after, change, None)))
            });
            outcome.into_iter().collect::<Vec<_>>()
        };
        let outcomes = match &transition {
            Some(transition) => outcome(&transition.after, Some(&transition.change)),
            None => outcome(&before, None),
        };
        let Some(transition) = transition else {
            return self.nothing_to_erase(held, before, outcomes, utterances);
        };
        let operation = Operation::Erase;
        let attempt = call.attempt.as_ref();
        let mut steps = vec![Step { before, transition, operation, attempt }];
        for (other, through) in sharing {
            let Some(before) = self.newest_held(held, &other).await? else { continue };
            let counter = self.counter(before.head.identity.encoding);
            let context = Context {
                now: now.max(before.head.update_time),
                counter,
                loaded: &Loaded::default(),
                llm: self.has_summarizer(),
            };
            let transition = erase_shared(&before, &gone, through, &context);
            steps.extend(transition.map(|transition| Step { before, transition, operation, attempt }));
        }
        let beside = Beside { outcomes, ..Beside::default() };
        let (settled, done) = self.commit_together(held, steps, beside);
        let changed = done.iter().map(|(_, after)| after.clone()).collect();
        let (change, after) = done.into_iter().next().ok_or(EngineError::Interrupted)?;
        let applied = Applied::Now { after, change: Some(change), ended: None, value: utterances };
        Ok(Attempted::HandedOver(settled, applied, changed))
    }

    fn nothing_to_erase(
        &self,
        held: &mut Held<'_>,
        after: Arc<Conversation>,
        outcomes: Vec<(crate::store::OutcomeKey, Arc<crate::store::Outcome>)>,
        value: Vec<Arc<Utterance>>,
    ) -> Result<Attempted, EngineError> {
        let settled = match outcomes.is_empty() {
            true => Settled::Now(Ok(())),
            false => self.commit_together(held, Vec::new(), Beside { outcomes, ..Beside::default() }).0,
        };
        Ok(Attempted::HandedOver(
            settled,
            Applied::Now { after, change: None, ended: None, value },
            Vec::new(),
        ))
    }

    /// The other conversations that share what `state` holds, whose lane is held; each with the last
    /// sequence that both share.
    async fn sharing(
        &self,
        state: &Conversation,
        held: &Held<'_>,
    ) -> Result<Vec<(ConversationKey, Sequence)>, EngineError> {
        if state.head.trunks.is_empty() {
            return Ok(Vec::new());
        }
        // the store does not tell of a fork that is in flight
        held.land().await;
        Ok(self.store.sharing(state.key()).await?)
    }
}
