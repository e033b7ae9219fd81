//! How a change is decided, committed and published.

use std::{sync::Arc, task::Poll};

use crate::{
    domain::{
        Change, Conversation, ConversationId, ConversationKey, Encoding, Identity, LineageId, Loaded, Need,
        Policy, Ranges, Refusal, Revision, Sequence, Timestamp, Transition, Utterance, Verdict,
        change::Context,
    },
    engine::{
        Address, Attempt, Caller, Engine, EngineError, Operation,
        events::Event,
        lane::{Lane, Pending, Ticket, Unpublished},
    },
    store::{BoxFuture, Commit, CommitError, Outcome, PointerWrite, StoreError, Write},
};

/// How often a decision is made anew when another process was faster.
const ATTEMPTS: usize = 64;

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
        /// What else the response needs.
        value: T,
    },
    /// It was decided by an earlier attempt.
    Earlier(References),
}

/// An earlier outcome, with what is still stored of the utterances that it refers to.
#[derive(Debug)]
pub struct References {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// The conversation as it is now; `None` when it is deleted.
    pub conversation: Option<Arc<Conversation>>,
    /// The stored utterances among those that it refers to.
    pub utterances: Vec<Arc<Utterance>>,
}

/// How a write treats a conversation that does not exist.
#[derive(Clone, Debug)]
pub(super) enum Missing {
    /// It is refused.
    Refuse,
    /// It is created.
    Create,
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
}

/// The conversation that a write goes to.
struct Target {
    key: ConversationKey,
    pointer: Option<PointerWrite>,
}

/// What becomes of one try.
enum Try<T> {
    Done(Applied<T>),
    Again,
}

/// A try, as far as the lane has to be held for it.
enum Tried<T> {
    Earlier(Arc<Outcome>),
    Now(Settled, Applied<T>),
}

impl Engine {
    /// Decides on the newest pending state, commits, and publishes; again when the state that
    /// the decision was made on turns out not to be the newest.
    pub(super) async fn write<T: Send>(
        &self,
        call: WriteCall<'_>,
        mut decide: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send,
    ) -> Result<Applied<T>, EngineError> {
        for _ in 0..ATTEMPTS {
            let target = self.target(&call).await?;
            if let Try::Done(applied) = self.try_write(&call, target, &mut decide).await? {
                return Ok(applied);
            }
        }
        Err(EngineError::Contended)
    }

    async fn target(&self, call: &WriteCall<'_>) -> Result<Target, EngineError> {
        let resolved = self.resolve(call.caller, call.address).await?;
        let pointer = |id: &ConversationId| PointerWrite {
            recipient: call.caller.recipient(call.address.recipient_or_default()),
            before: None,
            after: Some(id.clone()),
        };
        match (resolved, &call.missing) {
            (Some(id), Missing::CreateActive) => {
                let recipient = call.caller.recipient(call.address.recipient_or_default());
                let free = self.store.active(&recipient).await?.is_none();
                Ok(Target { pointer: free.then(|| pointer(&id)), key: call.caller.key(id) })
            }
            (Some(id), _) => Ok(Target { key: call.caller.key(id), pointer: None }),
            (None, missing) => {
                if let Some(earlier) = self.earlier(call.caller, call.attempt).await? {
                    return Ok(Target { key: call.caller.key(earlier.conversation.clone()), pointer: None });
                }
                if let Missing::Refuse = missing {
                    return Err(call.address.not_found().into());
                }
                let id = self.new_conversation_id();
                Ok(Target { pointer: Some(pointer(&id)), key: call.caller.key(id) })
            }
        }
    }

    async fn try_write<T: Send>(
        &self,
        call: &WriteCall<'_>,
        target: Target,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<Try<T>, EngineError> {
        let lane = self.lane(&target.key);
        let mut pending = lane.pending.lock().await;
        if pending.removed {
            return Ok(Try::Again);
        }
        let tried = self.decide_and_commit(call, &target, &lane, &mut pending, decide).await;
        self.discard_unused(&target.key, &lane, &mut pending);
        drop(pending);
        match tried? {
            Tried::Earlier(outcome) => {
                Ok(Try::Done(Applied::Earlier(self.references(call.caller, outcome).await?)))
            }
            Tried::Now(settled, applied) => match settled.result().await {
                Ok(()) => Ok(Try::Done(applied)),
                Err(CommitError::Conflict) => Ok(Try::Again),
                Err(CommitError::Store(error)) => Err(error.into()),
            },
        }
    }

    /// Decides on the newest pending state and hands the change to the store. The lane is held.
    async fn decide_and_commit<T: Send>(
        &self,
        call: &WriteCall<'_>,
        target: &Target,
        lane: &Arc<Lane>,
        pending: &mut Pending,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<Tried<T>, EngineError> {
        if let Some(outcome) = self.earlier(call.caller, call.attempt).await? {
            return Ok(Tried::Earlier(outcome));
        }
        let known = self.newest_state(lane, pending, &target.key).await?;
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
        if change.is_none() && outcome.is_none() {
            return Ok(Tried::Now(Settled::Now(Ok(())), Applied::Now { after, change, value }));
        }
        let before = (before.head.revision != Revision::NONE).then_some(before);
        let write = change.clone().map(|change| Write::Change { before, change, after: after.clone() });
        let flush = self.store.commit(Commit {
            writes: write.into_iter().collect(),
            pointers: target.pointer.iter().cloned().collect(),
            outcomes: outcome.into_iter().collect(),
        });
        let link = change.as_ref().map(|change| {
            let event = Event::of(call.operation, call.attempt, change, &after.head);
            pending.advance(Some(after.clone()), event)
        });
        let settled = self.settle(lane, flush, link).await;
        if let Settled::Now(Err(_)) = &settled {
            pending.reset();
        }
        Ok(Tried::Now(settled, Applied::Now { after, change, value }))
    }

    /// The newest state decided, or else the newest committed. The lane is held, so that no one
    /// else of this process changes it meanwhile.
    pub(super) async fn newest_state(
        &self,
        lane: &Lane,
        pending: &mut Pending,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        if pending.state.is_some() {
            return Ok(pending.state.clone());
        }
        let state = self.store.load(key).await?;
        if let Some(state) = &state {
            lane.publish_loaded(state);
        }
        pending.state.clone_from(&state);
        pending.tip = None;
        Ok(state)
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
            (None, Missing::Create | Missing::CreateActive) => {
                Arc::new(self.new_conversation(target.key.clone(), call.address, now))
            }
            (None, Missing::Refuse) => return Err(call.address.not_found().into()),
        };
        // an id to create is taken, whoever's it is
        if !matches!(call.missing, Missing::CreateActive) {
            call.address.check_recipient(&before)?;
        }
        let decision = self.decide_on(&before, now, decide).await?;
        Ok((before, decision))
    }

    /// Asks until the rules have seen all that they need.
    pub(super) async fn decide_on<T>(
        &self,
        before: &Conversation,
        now: Timestamp,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal> + Send),
    ) -> Result<T, EngineError> {
        let now = now.max(before.head.update_time);
        let counter = self.counter(before.head.identity.encoding);
        let mut loaded = Loaded::default();
        loop {
            let need = match decide(before, &Context { now, counter, loaded: &loaded })? {
                Verdict::Decided(decision) => return Ok(decision),
                Verdict::Need(need) => need,
            };
            match need {
                Need::Archive(wanted) => {
                    let utterances = self.store.archived(before.key(), &wanted).await?;
                    loaded.add_archive(wanted, utterances);
                }
                Need::ArchivedIds(ids) => loaded.add_ids(self.store.archived_ids(before.key(), &ids).await?),
            }
        }
    }

    /// Waits for the flush: here when it is there already, else in a task of its own, so that
    /// what was committed is published even when the caller goes away.
    pub(super) async fn settle(
        &self,
        lane: &Arc<Lane>,
        mut flush: BoxFuture<'static, Result<(), CommitError>>,
        link: Option<(Ticket, Unpublished)>,
    ) -> Settled {
        let polled = std::future::poll_fn(|context| Poll::Ready(flush.as_mut().poll(context))).await;
        if let Poll::Ready(result) = polled {
            if let (Ok(()), Some((_, link))) = (&result, link) {
                lane.committed(link, &self.events);
            }
            return Settled::Now(result);
        }
        let ticket = link.map(|(ticket, link)| {
            lane.wait(ticket, link);
            ticket
        });
        let (lane, events) = (lane.clone(), self.events.clone());
        Settled::Later(tokio::spawn(async move {
            let result = flush.await;
            match (ticket, &result) {
                (Some(ticket), Ok(())) => lane.flushed(ticket, &events),
                (Some(ticket), Err(_)) => lane.failed(ticket),
                (None, _) => {}
            }
            if result.is_err() {
                lane.pending.lock().await.reset();
            }
            result
        }))
    }

    /// The lane of a conversation; a new one when it has none.
    pub(super) fn lane(&self, key: &ConversationKey) -> Arc<Lane> {
        if let Some(lane) = self.lanes.get(key) {
            return lane.clone();
        }
        self.lanes.entry(key.clone()).or_default().clone()
    }

    /// Removes a lane of a conversation that does not exist.
    fn discard_unused(&self, key: &ConversationKey, lane: &Lane, pending: &mut Pending) {
        if pending.state.is_none() && lane.published().is_none() {
            self.remove_lane(key, pending);
        }
    }

    pub(super) fn remove_lane(&self, key: &ConversationKey, pending: &mut Pending) {
        pending.removed = true;
        self.lanes.remove(key);
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
        let policy: Policy = self.defaults.policy;
        Conversation::new(self.identity(key, address, self.defaults.encoding, now), policy)
    }

    /// What an earlier outcome refers to, as far as it is still stored.
    pub(super) async fn references(
        &self,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<References, EngineError> {
        let conversation = self.published(&caller.key(outcome.conversation.clone())).await?;
        // One of the same id that started later is another conversation.
        let conversation = conversation.filter(|state| state.head.identity.start_time <= outcome.time);
        let Some(state) = &conversation else {
            return Ok(References { outcome, conversation, utterances: Vec::new() });
        };
        let mut wanted = outcome.memorized.clone();
        for more in [&outcome.evicted, &outcome.forgotten, &outcome.restored] {
            wanted.union(more);
        }
        outcome.target.into_iter().for_each(|sequence| wanted.add(sequence));
        let utterances = self.stored(state, &wanted).await?;
        Ok(References { outcome, conversation, utterances })
    }

    /// The stored utterances among `wanted`, in the window or the archive, ascending.
    pub(super) async fn stored(
        &self,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>, EngineError> {
        let archived = wanted.intersection(&state.head.archived);
        let mut utterances = match archived.is_empty() {
            true => Vec::new(),
            false => self.store.archived(state.key(), &archived).await?,
        };
        utterances.extend(
            wanted.iter().flat_map(|range| state.window.between(*range.start(), *range.end())).cloned(),
        );
        utterances.sort_by_key(|utterance| utterance.sequence);
        Ok(utterances)
    }
}

pub(super) enum Settled {
    Now(Result<(), CommitError>),
    Later(tokio::task::JoinHandle<Result<(), CommitError>>),
}

impl Settled {
    /// What became of the commit, once it is known.
    pub(super) async fn result(self) -> Result<(), CommitError> {
        match self {
            Self::Now(result) => result,
            Self::Later(waiting) => waiting.await.unwrap_or_else(|_| Err(interrupted())),
        }
    }
}

fn interrupted() -> CommitError {
    CommitError::Store(StoreError::Unavailable("the write was interrupted".to_owned()))
}
