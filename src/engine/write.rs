//! How a change is decided, committed and published.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    domain::{
        Change, Conversation, ConversationId, ConversationKey, Encoding, Identity, LineageId, Loaded, Need,
        Policy, Refusal, Revision, Sequence, Timestamp, Transition, Verdict, change::Context,
    },
    engine::{
        Address, Attempt, Caller, Engine, EngineError, Operation,
        events::Event,
        lane::{Lane, Pending},
        line::Ahead,
        settle::{Settled, Settling},
        stored::References,
        unflushed::Unflushed,
    },
    store::{Commit, CommitError, Outcome, PointerWrite, Write},
};

/// How often a decision is made anew when another process was faster.
pub(super) const ATTEMPTS: usize = 64;

/// What a decision comes to.
pub(super) struct Decision<T> {
    /// What changes, if anything does.
    pub transition: Option<Transition>,
    /// The utterance that the call is about.
    pub target: Option<Sequence>,
    /// What else the response needs.
    pub value: T,
}

/// A change as its call sees it.
#[derive(Debug)]
pub enum Applied<T> {
    /// It was decided now.
    Now {
        /// The state after it.
        after: Arc<Conversation>,
        /// What changed, if anything did.
        change: Option<Arc<Change>>,
        /// The conversation that ended for this one to start.
        ended: Option<Arc<Conversation>>,
        /// What else the response needs.
        value: T,
    },
    /// It was decided by an earlier attempt.
    Earlier(References),
}

/// How a write treats a conversation that does not exist.
#[derive(Clone, Debug)]
pub(super) enum Missing {
    /// It is refused.
    Refuse,
    /// It is created; and so is another one, when the recipient's was left idle. A message that
    /// `answers` a call goes on in the one that waits for it.
    Create {
        /// Whether the first utterance is a tool's result.
        answers: bool,
    },
    /// It is created, and is its recipient's active one unless there is one.
    CreateActive,
}

/// What a write is for.
pub(super) struct WriteCall<'a> {
    pub caller: &'a Caller,
    pub address: &'a Address,
    pub attempt: Option<&'a Attempt>,
    pub operation: Operation,
    pub missing: Missing,
    /// Whether the conversation is taken from its recipient.
    pub releases: bool,
    /// What the address meant a moment ago, if that is known.
    pub resolved: Option<&'a Resolved>,
}

/// The conversation that an address means.
#[derive(Clone)]
pub(super) struct Resolved {
    pub lane: Arc<Lane>,
    /// Its identity, if it was published at that moment.
    pub identity: Option<Arc<Identity>>,
}

/// A write that was begun.
pub(super) enum Begun<T> {
    /// There is nothing left to wait for.
    Done(Applied<T>),
    /// It was handed to the store and waits for its flush.
    Waiting(Waiting<T>),
    /// What it was decided on was not the newest: it has to be begun anew.
    Again,
    /// It would overtake a write of its stream that has to be decided anew.
    Overtakes,
}

/// A write that waits for its flush.
pub(super) struct Waiting<T> {
    /// What it comes to, if it is committed.
    pub applied: Applied<T>,
    /// How the commit ends.
    pub settling: Settling,
    /// The lane that it was decided on.
    pub lane: Arc<Lane>,
    /// The [`Pending::chain`] that it belongs to.
    pub chain: u64,
    /// It starts a recipient's conversation: what comes after it is decided once it has ended.
    pub starts: bool,
}

/// The conversation that a write goes to.
pub(super) struct Target {
    pub(super) resolved: Resolved,
    pointer: Option<PointerWrite>,
}

/// A decision, as far as the lane has to be held for it.
enum Decided<T> {
    Earlier(Arc<Outcome>),
    Now(Settled, Applied<T>),
    /// Another conversation was started in the place of the addressed one.
    Anew(Settled, Applied<T>),
    Again,
    Overtakes,
}

impl Engine {
    /// Decides on the newest pending state, commits, and publishes; again when the state that
    /// the decision was made on turns out not to be the newest.
    pub(super) async fn write<T: Send>(
        &self,
        mut call: WriteCall<'_>,
        mut decide: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send,
    ) -> Result<Applied<T>, EngineError> {
        for _ in 0..ATTEMPTS {
            match self.begin(&call, None, &mut decide).await? {
                Begun::Done(applied) => return self.ended(applied, call.releases).await,
                Begun::Waiting(mut waiting) => match waiting.settling.result().await {
                    Ok(()) => return self.ended(waiting.applied, call.releases).await,
                    Err(CommitError::Conflict) => {}
                    Err(CommitError::Store(error)) => return Err(error.into()),
                },
                Begun::Again | Begun::Overtakes => {}
            }
            call.resolved = None;
        }
        Err(EngineError::Contended)
    }

    /// Decides on the newest pending state and hands the change to the store; does not wait for
    /// its flush.
    pub(super) async fn begin<T: Send>(
        &self,
        call: &WriteCall<'_>,
        ahead: Option<&Ahead<'_>>,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<Begun<T>, EngineError> {
        let mut target = self.target(call).await?;
        loop {
            let mut pending = target.resolved.lane.pending.lock().await;
            if pending.removed {
                drop(pending);
                target.resolved.lane = self.lanes.lane(&target.resolved.lane.key);
                continue;
            }
            let decided = self.decide_and_commit(call, &target, &mut pending, ahead, decide).await;
            self.let_go(&target.resolved.lane, &mut pending);
            let chain = pending.chain;
            drop(pending);
            let (settled, applied, starts) = match decided? {
                Decided::Earlier(outcome) => {
                    return Ok(Begun::Done(Applied::Earlier(self.references(call.caller, outcome).await?)));
                }
                Decided::Again => return Ok(Begun::Again),
                Decided::Overtakes => return Ok(Begun::Overtakes),
                Decided::Now(settled, applied) => (settled, applied, target.pointer.is_some()),
                Decided::Anew(settled, applied) => (settled, applied, true),
            };
            return Ok(match settled {
                Settled::Now(Ok(())) => Begun::Done(applied),
                Settled::Now(Err(CommitError::Conflict)) => Begun::Again,
                Settled::Now(Err(CommitError::Store(error))) => return Err(error.into()),
                Settled::Later(settling) => {
                    Begun::Waiting(Waiting { applied, settling, lane: target.resolved.lane, chain, starts })
                }
            });
        }
    }

    /// Does what is to be done when a conversation has ended with what was applied: as the one that
    /// was asked for when it `releases` it, or for another one to start.
    pub(super) async fn ended<T>(
        &self,
        applied: Applied<T>,
        releases: bool,
    ) -> Result<Applied<T>, EngineError> {
        if let Applied::Now { after, ended, .. } = &applied
            && let Some(ended) = ended.as_ref().or(releases.then_some(after))
        {
            let identity = &ended.head.identity;
            let caller = Caller { namespace: identity.key.namespace.clone() };
            Box::pin(self.retire(&caller.recipient(identity.recipient.clone()))).await?;
        }
        Ok(applied)
    }

    async fn target(&self, call: &WriteCall<'_>) -> Result<Target, EngineError> {
        if let Some(resolved) = call.resolved {
            return Ok(Target { resolved: resolved.clone(), pointer: None });
        }
        let id = self.resolve(call.caller, call.address).await?;
        let pointer = |id: &ConversationId| PointerWrite {
            recipient: call.caller.recipient(call.address.recipient_or_default()),
            before: None,
            after: Some(id.clone()),
        };
        let resolved = |id| {
            let lane = self.lanes.lane(&call.caller.key(id));
            Resolved { identity: lane.identity(), lane }
        };
        match (id, &call.missing) {
            (Some(id), Missing::CreateActive) => {
                let recipient = call.caller.recipient(call.address.recipient_or_default());
                let free = self.store.active(&recipient).await?.is_none();
                Ok(Target { pointer: free.then(|| pointer(&id)), resolved: resolved(id) })
            }
            (Some(id), _) => Ok(Target { resolved: resolved(id), pointer: None }),
            (None, missing) => {
                if let Some(earlier) = self.earlier(call.caller, call.attempt).await? {
                    return Ok(Target { resolved: resolved(earlier.conversation.clone()), pointer: None });
                }
                if let Missing::Refuse = missing {
                    return Err(call.address.not_found().into());
                }
                let id = self.new_conversation_id();
                Ok(Target { pointer: Some(pointer(&id)), resolved: resolved(id) })
            }
        }
    }

    /// Decides on the newest pending state and hands the change to the store. The lane is held.
    async fn decide_and_commit<T: Send>(
        &self,
        call: &WriteCall<'_>,
        target: &Target,
        pending: &mut Pending,
        ahead: Option<&Ahead<'_>>,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<Decided<T>, EngineError> {
        if let Some(outcome) = self.earlier(call.caller, call.attempt).await? {
            return Ok(Decided::Earlier(outcome));
        }
        if call.releases {
            // the pointer that is to go may be in flight
            target.resolved.lane.land().await;
        }
        let known = self.newest_state(&target.resolved.lane, pending).await?;
        if ahead.is_some_and(|ahead| ahead.is_overtaken(&target.resolved.lane, pending.chain)) {
            return Ok(Decided::Overtakes);
        }
        if self.is_elsewhere(call, target, known.as_deref()).await? {
            return Ok(Decided::Again);
        }
        if let Some(left) = known.as_ref().filter(|known| self.is_left(call, known)) {
            // seldom: boxed, so that the future of every other write does not have room for it
            let rolling = self.roll_over(call, target, pending, left, ahead, decide);
            let (settled, applied) = Box::pin(rolling).await?;
            return Ok(Decided::Anew(settled, applied));
        }
        let (before, decision) = self.decide(call, known, target, decide).await?;
        let Decision { transition, target: sequence, value } = decision;
        let (change, after) = match transition {
            Some(Transition { change, after }) => (Some(Arc::new(change)), Arc::new(after)),
            None => (None, before.clone()),
        };
        let outcome = call.attempt.map(|attempt| {
            let time = if change.is_some() { after.head.update_time } else { self.clock.now() };
            let outcome = attempt.outcome(time, &after, change.as_deref(), sequence);
            (attempt.key(call.caller), Arc::new(outcome))
        });
        let applied = Applied::Now { after: after.clone(), change: change.clone(), ended: None, value };
        if change.is_none() && outcome.is_none() {
            return Ok(Decided::Now(Settled::Now(Ok(())), applied));
        }
        let released = if call.releases { Box::pin(self.release(&after)).await? } else { None };
        let before = (before.head.revision != Revision::NONE).then_some(before);
        let write = change.clone().map(|change| Write::Change { before, change, after: after.clone() });
        let flush = self.store.commit(Commit {
            writes: write.into_iter().collect(),
            pointers: target.pointer.iter().cloned().chain(released).collect(),
            outcomes: outcome.into_iter().collect(),
        });
        let link = change.as_ref().map(|change| {
            let event = Event::of(call.operation, call.attempt, change, &after.head);
            pending.link(&target.resolved.lane, change, &after, event)
        });
        let settled = self.settle(flush, link.into_iter().collect(), ahead);
        Ok(Decided::Now(settled, applied))
    }

    /// The newest state decided, or else the newest committed. The lane is held, so that no one
    /// else of this process changes it meanwhile.
    pub(super) async fn newest_state(
        &self,
        lane: &Lane,
        pending: &mut Pending,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        if pending.state.is_some() && !lane.is_broken() {
            return Ok(pending.state.clone());
        }
        lane.land().await;
        lane.repair(pending);
        let state = self.store.load(&lane.key).await?;
        lane.publish_loaded(state.as_ref());
        pending.start(self.chains.fetch_add(1, Ordering::Relaxed), state.clone());
        Ok(state)
    }

    /// What has to be done before a lane is let go.
    pub(super) fn let_go(&self, lane: &Arc<Lane>, pending: &mut Pending) {
        self.lanes.discard_unused(lane, pending);
        if !pending.removed {
            self.lanes.charge(lane, pending);
        }
    }

    /// Whether the recipient's conversation was deleted or has ended since the address was resolved,
    /// so that another is meant.
    async fn is_elsewhere(
        &self,
        call: &WriteCall<'_>,
        target: &Target,
        known: Option<&Conversation>,
    ) -> Result<bool, EngineError> {
        if call.address.conversation.is_some() {
            return Ok(false);
        }
        if known.is_some_and(|state| state.head.ended.is_some()) {
            // until its end is flushed, the recipient's conversation still seems to be this one
            target.resolved.lane.land().await;
            return Ok(true);
        }
        let lineage = |identity: &Arc<Identity>| identity.lineage;
        let same = known.is_some()
            && known.map(|state| state.head.identity.lineage)
                == target.resolved.identity.as_ref().map(lineage);
        if same || target.pointer.is_some() {
            return Ok(false);
        }
        Ok(self.resolve(call.caller, call.address).await?.as_ref() != Some(&target.resolved.lane.key.id))
    }

    async fn decide<T>(
        &self,
        call: &WriteCall<'_>,
        known: Option<Arc<Conversation>>,
        target: &Target,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<(Arc<Conversation>, Decision<T>), EngineError> {
        let now = self.clock.now();
        let before = match (known, &call.missing) {
            (Some(state), _) => state,
            (None, Missing::Create { .. } | Missing::CreateActive) => {
                Arc::new(self.new_conversation(target.resolved.lane.key.clone(), call.address, now))
            }
            (None, Missing::Refuse) => return Err(call.address.not_found().into()),
        };
        // an id to create is taken, whoever's it is
        if !matches!(call.missing, Missing::CreateActive) {
            call.address.check_recipient(&before)?;
        }
        let decision = self.decide_on(&before, Some(&target.resolved.lane), now, decide).await?;
        Ok((before, decision))
    }

    /// Asks until the rules have seen all that they need. With the lane when `before` is its pending
    /// state, without when it is a published one.
    pub(super) async fn decide_on<T>(
        &self,
        before: &Conversation,
        lane: Option<&Lane>,
        now: Timestamp,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal> + Send),
    ) -> Result<T, EngineError> {
        let now = now.max(before.head.update_time);
        let counter = self.counter(before.head.identity.encoding);
        let mut loaded = Loaded::default();
        loop {
            let need =
                match decide(before, &Context { now, counter, loaded: &loaded, llm: self.has_summarizer() })?
                {
                    Verdict::Decided(decision) => return Ok(decision),
                    Verdict::Need(need) => need,
                };
            if let Some(lane) = lane.filter(|lane| lane.unflushed().inherits()) {
                // of a fork that is not flushed, the store tells nothing yet
                lane.land().await;
            }
            // asked first: what is flushed meanwhile is seen twice, and not never
            let unflushed = lane.map_or(Unflushed(Vec::new()), Lane::unflushed);
            match need {
                Need::Archive(wanted) => {
                    let stored = self.store.archived(before.key(), &wanted).await?;
                    let archived = unflushed.archived(&wanted, stored);
                    loaded.add_archive(&wanted, archived);
                }
                Need::ArchivedIds(ids) => {
                    let stored = self.store.archived_ids(before.key(), &ids).await?;
                    loaded.add_ids(unflushed.ids(&ids, stored));
                }
            }
        }
    }

    pub(super) fn new_conversation_id(&self) -> ConversationId {
        ConversationId::assigned(self.clock.unique())
    }

    pub(super) fn identity(
        &self,
        key: ConversationKey,
        address: &Address,
        encoding: Encoding,
        now: Timestamp,
    ) -> Identity {
        Identity {
            key,
            recipient: address.recipient_or_default(),
            lineage: LineageId(self.clock.unique().to_be_bytes()),
            start_time: now,
            encoding,
        }
    }

    fn new_conversation(&self, key: ConversationKey, address: &Address, now: Timestamp) -> Conversation {
        let policy: Policy = self.defaults.policy.clone();
        Conversation::new(self.identity(key, address, self.defaults.encoding, now), policy)
    }

    /// The conversation that follows one that ended, before its first revision.
    pub(super) fn successor(
        &self,
        key: ConversationKey,
        ended: &Conversation,
        now: Timestamp,
    ) -> Conversation {
        let (recipient, encoding) = (&ended.head.identity.recipient, ended.head.identity.encoding);
        let address = Address { conversation: None, recipient: Some(recipient.clone()) };
        Conversation::new(self.identity(key, &address, encoding, now), ended.head.policy.clone())
    }
}
