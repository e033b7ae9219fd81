//! Writing to one conversation.

pub(super) mod background;
pub(super) mod command;
pub(super) mod compact;
pub(super) mod end;
pub(super) mod erase;
pub(super) mod forget;
pub(super) mod fork;
pub(super) mod import;
pub(super) mod memorize;
pub(super) mod reach;
pub(super) mod recipient;
pub(super) mod remove;
pub(super) mod request;
pub(super) mod retention;
pub(super) mod share;
pub(super) mod summarize;
pub(super) mod update;

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Refusal, Timestamp, Verdict,
        change::Context,
        limits::{MAX_WAITING_WRITES, OUTCOME_RETENTION},
    },
    engine::{
        Applied, Caller, Engine, EngineError,
        applied::{Decided, Done},
        events::facts::Named,
        lane::{
            attended::Attended,
            queued::{Answer, Decision, IfAbsent, Request, Target, Unapplied, Waiting, WriteCall},
        },
        shared::known::Known,
    },
    store::{Begin, Newer, Outcome, PointerWrite, StateOf},
};

/// The meaning of a write's address.
pub(super) enum Aimed {
    At(Target),
    /// The attempt was already made.
    Earlier(Arc<Outcome>),
}

/// A submitted write.
pub(super) enum Submitted<T> {
    Waits(Waiting<T>),
    Earlier(Arc<Outcome>),
}

impl Engine {
    /// Decides a write in its conversation's queue, then commits and publishes it.
    pub(super) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        call: WriteCall,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send + 'static,
    ) -> Result<Applied<T>, EngineError> {
        self.decided(Box::new(Request::new(call, rule))).await
    }

    /// Like [`Self::write`], for a request with its rule; retries if its address comes to mean something else.
    pub(super) async fn decided<T: Send + 'static>(
        self: &Arc<Self>,
        mut request: Box<Request<T>>,
    ) -> Result<Applied<T>, EngineError> {
        let caller = request.call.caller.clone();
        loop {
            let waiting = match self.submit(request, MAX_WAITING_WRITES).await? {
                Submitted::Waits(waiting) => waiting,
                Submitted::Earlier(outcome) => return self.earlier(&caller, outcome).await,
            };
            request = match waiting.await {
                Ok(applied) => return Ok(applied),
                Err(Unapplied::Failed(error)) => return Err(error),
                Err(Unapplied::Anew(request)) => request.again()?,
            };
        }
    }

    /// Like [`Self::decided`], for a request that has to be resolved again.
    pub(super) async fn again<T: Send + 'static>(
        self: &Arc<Self>,
        request: Box<Request<T>>,
    ) -> Result<Applied<T>, EngineError> {
        self.decided(request.again()?).await
    }

    /// Returns the answer to an attempt that was already made.
    pub(super) async fn earlier<T>(
        self: &Arc<Self>,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<Applied<T>, EngineError> {
        Box::pin(self.replay(caller, outcome)).await
    }

    /// Resolves the write's address and puts the write in that conversation's queue, unless `most` already
    /// wait.
    pub(super) async fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        mut request: Box<Request<T>>,
        most: usize,
    ) -> Result<Submitted<T>, EngineError> {
        let target = match request.target.take() {
            Some(target) => target,
            None => match self.aim(&request.call, request.is_first()).await? {
                Aimed::At(target) => target,
                Aimed::Earlier(outcome) => return Ok(Submitted::Earlier(outcome)),
            },
        };
        let key = target.key.clone();
        let (entry, reply) = request.queued(target);
        let driving = self.enqueue(&key, entry, most)?;
        let driving = driving.map(|(hold, first)| Attended::new(Self::drive(hold, Some(first))));
        Ok(Submitted::Waits(Waiting::new(driving, reply)))
    }

    /// Returns the conversation a write goes to, or the outcome of an earlier attempt with the same id.
    ///
    /// - Fails if that attempt had another body, or if the address means nothing.
    /// - Does not ask the store if it `may_assume` the answer.
    pub(super) async fn aim(&self, call: &WriteCall, may_assume: bool) -> Result<Aimed, EngineError> {
        let WriteCall { caller, address, attempt, if_absent, .. } = call;
        let recipient = caller.recipient(address.recipient_or_default());
        if may_assume && let Some(target) = self.assumed(address, &recipient) {
            return Ok(Aimed::At(target));
        }
        let may_start = address.conversation.as_ref().filter(|_| *if_absent == IfAbsent::CreateAndActivate);
        let exists = may_start.is_some_and(|id| self.is_published(&caller.key(id.clone())));
        let activates = may_start.is_some() && !exists;
        let wanted = (address.conversation.is_none() || activates).then_some(&recipient);
        let key = attempt.as_ref().map(|attempt| attempt.key(caller));
        let (mut active, mut outcome, mut seen) = (None, None, None);
        if wanted.is_some() || key.is_some() || self.is_shared {
            let outcome_of = key.as_ref().map(|key| (key, self.oldest_outcome()));
            let known = self.known(address, &recipient);
            let state = known.as_deref().and_then(Known::wanted);
            let asks_pointer = self.last_active.as_ref().filter(|_| wanted.is_some());
            let pointer = asks_pointer.map(|last| (last, last.before(&recipient), self.clock.elapsed()));
            let begun = self.store.begin(Begin { recipient: wanted, outcome: outcome_of, state }).await?;
            (active, outcome) = (begun.active, begun.outcome);
            seen = known.map(|known| known.confirmed(begun.state));
            if let Some((last, before, asked)) = pointer {
                last.answered(&recipient, before, active.as_ref(), asked);
            }
        }
        if let (Some(outcome), Some(attempt)) = (outcome, attempt) {
            return match outcome.body == attempt.body {
                true => Ok(Aimed::Earlier(outcome)),
                false => Err(Refusal::RequestIdReused(attempt.id.to_string()).into()),
            };
        }
        let pointer = |before: Option<ConversationId>, after: &ConversationId| {
            Some(PointerWrite { recipient: recipient.clone(), before, after: Some(after.clone()) })
        };
        let at = |id, pointer, exists| Aimed::At(Target { key: caller.key(id), pointer, exists, seen });
        Ok(match (&address.conversation, active) {
            (Some(id), None) if activates => at(id.clone(), pointer(None, id), false),
            (Some(id), _) => at(id.clone(), None, exists),
            (None, Some(id)) => at(id.clone(), pointer(Some(id.clone()), &id), true),
            (None, None) if *if_absent == IfAbsent::Refuse => return Err(address.not_found().into()),
            (None, None) => {
                let id = self.new_conversation_id();
                at(id.clone(), pointer(None, &id), false)
            }
        })
    }

    /// Returns the answer to a write that was not committed: its error, unless that is outdated.
    pub(super) async fn refused(&self, call: &WriteCall, target: &Target, error: EngineError) -> Answer {
        if !matches!(error, EngineError::Refused(_)) {
            return Answer::Failed(error);
        }
        // boxed: rarely needed, and large
        match Box::pin(self.is_outdated(call, target)).await {
            Ok(true) => Answer::Anew,
            Ok(false) => Answer::Failed(error),
            Err(unknown) => Answer::Failed(unknown),
        }
    }

    /// Whether a conversation is known to exist, and nobody else can have deleted it.
    fn is_published(&self, key: &ConversationKey) -> bool {
        let published = || self.queues.get(key)?.published().state();
        !self.is_shared && published().is_some()
    }

    /// Whether a refusal is outdated, because something looked up before the decision has changed: the attempt
    /// has an outcome by now, so what is refused may be what the attempt itself did; the recipient has another
    /// active conversation; or another process changed the conversation, so its state and the data loaded with
    /// it may be from different moments. The conversation's queue must be held.
    pub(super) async fn is_outdated(&self, call: &WriteCall, target: &Target) -> Result<bool, EngineError> {
        let key = call.attempt.as_ref().map(|attempt| attempt.key(&call.caller));
        let pointer = target.pointer.as_ref();
        if key.is_none() && pointer.is_none() && !self.is_shared {
            return Ok(false);
        }
        let outcome = key.as_ref().map(|key| (key, self.oldest_outcome()));
        let recipient = pointer.map(|pointer| &pointer.recipient);
        let queue = self.queues.get(&target.key);
        let known = queue.as_ref().and_then(|queue| queue.published().state());
        let known = known.map(|state| state.head.change);
        let state = self.is_shared.then_some(StateOf::One(&target.key, known));
        let begun = self.store.begin(Begin { recipient, outcome, state }).await?;
        let is_changed = match begun.state {
            Newer::Known => false,
            Newer::Absent => known.is_some(),
            Newer::State(_) => true,
        };
        queue.filter(|_| is_changed).into_iter().for_each(|queue| queue.note_commit(true));
        let is_another = pointer.is_some_and(|pointer| begun.active != pointer.before);
        Ok(begun.outcome.is_some() || is_another || is_changed)
    }

    /// Returns the time before which an outcome is no longer valid.
    pub(super) fn oldest_outcome(&self) -> Timestamp {
        self.clock.now().minus(OUTCOME_RETENTION)
    }

    /// Returns the result of a write on `before`.
    pub(super) fn done(
        &self,
        call: &WriteCall,
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
    ) -> Done {
        Done::on(before, decided, named, self.now()).by(call.attempt.as_ref())
    }
}
