//! Writes that are decided in sequence and committed together.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    Engine, EngineError, Operation, Result,
    applied::{Decided, RuleResult},
    lane::{
        commit::{Extras, Part, Uncommitted},
        decide::{Moved, is_long},
        hold::Hold,
        queued::{Answer, IfAbsent, QueuedWrite, Seen, Target},
        recipient_state::RecipientStateWrite,
    },
};
use utterd_domain::{ChangeId, Conversation, Refusal, Revision, end::is_left};
use utterd_store::{Conflict, PointerWrite};
use utterd_telemetry::panics::Within;

/// The writes of one commit to one conversation.
pub struct Batch {
    commit: ChangeId,
    part: Part,
    recipient_state: RecipientStateWrite,
    moved: Moved,
    extras: Extras,
    /// The decided writes, in order, each with the answer it gets once the commit is made.
    decided: Decisions,
}

/// Decided writes, in order, each with its answer.
pub type Decisions = SmallVec<[(Box<dyn QueuedWrite>, Answer); 1]>;

/// What is left of a batch after its commit.
#[derive(Default)]
pub struct Finished {
    /// The writes to answer. They are answered when the conversation is not held any more: a caller that writes
    /// again at once then finds it free.
    pub answered: Decisions,
    /// The writes to decide again, in order.
    pub undecided: Vec<Box<dyn QueuedWrite>>,
    /// Whether to take these one at a time.
    pub one_by_one: bool,
}

/// The result of adding a write to a batch.
pub enum Joined {
    /// It is decided, or already answered.
    Yes,
    /// It needs to see stored data that the batch has moved: the batch must be committed first.
    AfterCommit(Box<dyn QueuedWrite>),
    /// Deciding it panicked, and it is answered; the batch may be changed in part, and must be given up.
    Panicked,
    /// Its recipient's conversation was left idle, and the batch is empty.
    RollsOver(Box<dyn QueuedWrite>, Arc<Conversation>),
}

/// Why a write was not decided, or was refused.
enum NotJoined {
    Error(EngineError),
    /// The address means another conversation by now.
    Elsewhere,
    AfterCommit,
    RollOver(Arc<Conversation>),
    /// Deciding panicked: the batch may be changed in part.
    Panicked,
}

impl From<EngineError> for NotJoined {
    fn from(error: EngineError) -> Self {
        Self::Error(error)
    }
}

impl From<Refusal> for NotJoined {
    fn from(refusal: Refusal) -> Self {
        Self::Error(refusal.into())
    }
}

impl Batch {
    /// Starts a batch on the last known state of the held conversation; a single write may have `seen` a newer
    /// one.
    pub async fn on(hold: &Hold, seen: Option<Seen>) -> Result<Self> {
        Ok(Self {
            commit: hold.engine.next_change(),
            part: Part::new(hold, hold.likely_state(seen).await?),
            recipient_state: RecipientStateWrite::default(),
            moved: Moved::default(),
            extras: Extras::default(),
            decided: SmallVec::new(),
        })
    }

    /// Decides a write on the result of the writes before it. A write that was decided on the committed state
    /// and changes nothing is answered immediately.
    pub async fn join(&mut self, engine: &Arc<Engine>, write: Box<dyn QueuedWrite>) -> Joined {
        let (write, answer) = self.decide(engine, write).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(NotJoined::Panicked) => {
                write.answer(Answer::Failed(EngineError::Panicked));
                return Joined::Panicked;
            }
            Err(NotJoined::AfterCommit) => return Joined::AfterCommit(write),
            Err(NotJoined::RollOver(left)) => return Joined::RollsOver(write, left),
            Err(NotJoined::Elsewhere) => Answer::Anew,
            Err(NotJoined::Error(error)) => engine.refused(write.call(), write.target(), error).await,
        };
        if self.is_empty() {
            write.answer(answer)
        } else {
            self.decided.push((write, answer))
        }
        Joined::Yes
    }

    /// Whether there is nothing to commit.
    fn is_empty(&self) -> bool {
        self.part.changes().is_empty() && self.recipient_state.is_empty() && self.extras.outcomes.is_empty()
    }

    async fn decide(
        &mut self,
        engine: &Arc<Engine>,
        mut write: Box<dyn QueuedWrite>,
    ) -> (Box<dyn QueuedWrite>, Result<Answer, NotJoined>) {
        let before = Within::Queue.caught(|| self.before(engine, &*write));
        let before = match before.unwrap_or(Err(NotJoined::Panicked)) {
            Ok(before) => before,
            Err(stop) => return (write, Err(stop)),
        };
        let key = write.call().attempt.as_ref().map(|attempt| attempt.key(&write.call().caller));
        if key.as_ref().is_some_and(|key| self.extras.outcomes.iter().any(|(other, _)| other == key)) {
            return (write, Ok(Answer::Anew));
        }
        let is_long = is_long(&before, write.call());
        let (back, decision) = engine
            .decide(
                write,
                |write, before, context| write.decide(before, context),
                &before,
                &self.moved,
                is_long,
            )
            .await;
        write = back;
        let answer = match decision {
            Ok(Some(decision)) => {
                let added = Within::Queue.catching(self.add(engine, &mut *write, &before, decision)).await;
                added.unwrap_or(Err(NotJoined::Panicked))
            }
            Ok(None) => Err(NotJoined::AfterCommit),
            Err(error) => Err(error.into()),
        };
        (write, answer)
    }

    /// Adds what was decided.
    async fn add(
        &mut self,
        engine: &Arc<Engine>,
        write: &mut dyn QueuedWrite,
        before: &Arc<Conversation>,
        decision: RuleResult<()>,
    ) -> Result<Answer, NotJoined> {
        let call = write.call();
        if decision.transition.is_none() && self.is_outdated(engine, write).await? {
            return Err(NotJoined::Elsewhere);
        }
        let decided = decision.transition.map(|transition| Decided::of(transition, self.commit));
        let state = self.recipient_state.decide(engine, call, &before.head.identity, self.commit).await?;
        let done = engine.applied(call, before, decided.as_ref(), decision.named);
        let after = decided.as_ref().map_or(before, |decided| &decided.after);
        let ends = before.head.ended.is_none() && after.head.ended.is_some();
        let released = match ends {
            true => released(engine, self.extras.pointers.first().cloned(), after).await?,
            false => None,
        };
        self.extras.outcomes.extend(call.kept(&done));
        self.recipient_state.add(state.as_ref(), call);
        if let Some(decided) = &decided {
            self.moved.add(&decided.change);
            self.part.add(decided, call.operation, call.attempt.as_ref());
            // a conversation addressed by id becomes its recipient's active one when it starts
            let starts = before.head.revision == Revision::NONE;
            let points = call.address.conversation.is_none() || starts;
            self.point(write.target().pointer.clone().filter(|_| points));
            self.point(released);
        }
        Ok(Answer::Applied(done))
    }

    /// Whether a write that changes nothing was decided on a state that is not the newest. If something is
    /// committed with it, the commit finds out.
    fn is_outdated<'a>(
        &self,
        engine: &'a Engine,
        write: &dyn QueuedWrite,
    ) -> impl Future<Output = Result<bool>> + Send + use<'a> {
        let asked = (engine.is_shared() && self.part.changes().is_empty())
            .then(|| (write.call().clone(), write.target().clone()));
        async move {
            match asked {
                // boxed: rarely needed, and large
                Some((call, target)) => Box::pin(engine.is_outdated(&call, &target)).await,
                None => Ok(false),
            }
        }
    }

    /// Returns the state a write is decided on.
    fn before(&self, engine: &Engine, write: &dyn QueuedWrite) -> Result<Arc<Conversation>, NotJoined> {
        let (call, Target { key, exists, policy, .. }) = (write.call(), write.target());
        let by_recipient = call.address.conversation.is_none();
        match self.part.newest() {
            Some(state) if by_recipient && !call.address.may_mean(state) => Err(NotJoined::Elsewhere),
            None if *exists => Err(NotJoined::Elsewhere),
            None if call.if_absent == IfAbsent::Refuse => Err(call.address.not_found().into()),
            None => Ok(engine.new_conversation(key.clone(), &call.address, policy.as_deref())),
            // the id to create is taken, no matter by which recipient
            Some(state) if call.operation == Operation::CreateConversation => Ok(state.clone()),
            Some(state) => {
                call.address.check_recipient(state)?;
                let rolls_over = by_recipient && call.if_absent == IfAbsent::Create;
                let timeouts = engine.defaults.timeouts;
                match rolls_over && is_left(state, engine.moment(), timeouts, call.answers) {
                    true if self.is_empty() => Err(NotJoined::RollOver(state.clone())),
                    true => Err(NotJoined::AfterCommit),
                    false => Ok(state.clone()),
                }
            }
        }
    }

    /// Adds one more write of the pointer: all writes of a batch are for one recipient.
    fn point(&mut self, pointer: Option<PointerWrite>) {
        match (self.extras.pointers.first_mut(), pointer) {
            (Some(first), Some(next)) => first.after = next.after,
            (None, Some(next)) => self.extras.pointers.push(next),
            (_, None) => {}
        }
    }

    /// Returns the decided writes, in order, to be decided again.
    pub fn into_undecided_writes(self) -> Vec<Box<dyn QueuedWrite>> {
        undecided(self.decided)
    }

    /// Commits the decided writes. Returns the writes that have to be decided again, in order, and those to answer.
    pub async fn finish(self, engine: &Engine) -> Finished {
        if self.is_empty() {
            return Finished::default();
        }
        let Self { part, recipient_state, extras, decided, .. } = self;
        engine.meters.batch.observe(decided.len() as f64);
        let (state, _hold) = recipient_state.done();
        let mut parts: SmallVec<[Part; 1]> = SmallVec::from_buf([part]);
        parts.extend(state);
        let begun = extras.pointers.iter().filter(|pointer| pointer.after.is_some());
        let begun: SmallVec<[_; 1]> = begun.map(|pointer| pointer.recipient.clone()).collect();
        match engine.commit(&mut parts, extras).await {
            Ok(()) => {
                parts[0].ended().into_iter().for_each(|ended| engine.retention.add(ended));
                begun.into_iter().for_each(|recipient| engine.retention.add_recipient(recipient));
                Finished { answered: decided, ..Finished::default() }
            }
            Err(Uncommitted::Conflict(conflict)) => {
                Finished::of_undecided(again(decided.into_iter(), &conflict))
            }
            // a single one may still fit, or not panic
            Err(Uncommitted::Full(_) | Uncommitted::Panicked) if decided.len() > 1 => {
                Finished { one_by_one: true, ..Finished::of_undecided(undecided(decided)) }
            }
            Err(Uncommitted::Full(full)) => fail(decided, &full.into()),
            Err(Uncommitted::Panicked) => fail(decided, &EngineError::Panicked),
            Err(Uncommitted::Failed(error)) => fail(decided, &error),
        }
    }
}

/// Returns the pointer write that clears the recipient's active conversation if it is the one that ends, given
/// the batch's pointer write so far.
async fn released(
    engine: &Engine,
    pointer: Option<PointerWrite>,
    ended: &Conversation,
) -> Result<Option<PointerWrite>> {
    match pointer {
        None => engine.release(ended).await,
        Some(PointerWrite { recipient, after, .. }) => Ok(match after == Some(ended.key().id.clone()) {
            true => Some(PointerWrite { recipient, before: after, after: None }),
            false => None,
        }),
    }
}

impl Finished {
    /// Writes to decide again, and nothing to answer.
    pub fn of_undecided(undecided: Vec<Box<dyn QueuedWrite>>) -> Self {
        Self { undecided, ..Self::default() }
    }
}

fn undecided(decided: Decisions) -> Vec<Box<dyn QueuedWrite>> {
    decided.into_iter().map(|(write, _)| write).collect()
}

fn fail(decided: Decisions, error: &EngineError) -> Finished {
    let failed = |(write, _)| (write, Answer::Failed(error.clone()));
    Finished { answered: decided.into_iter().map(failed).collect(), ..Finished::default() }
}

/// Returns the writes of a conflicting commit that can be decided again here; the others are answered that they
/// must be resolved again, or that they were tried too often.
fn again(
    decided: impl Iterator<Item = (Box<dyn QueuedWrite>, Answer)>,
    conflict: &Conflict,
) -> Vec<Box<dyn QueuedWrite>> {
    let mut again = Vec::new();
    for (mut write, _) in decided {
        match write.is_named_by(conflict) {
            true => write.answer(Answer::Anew),
            false if write.try_again() => again.push(write),
            false => write.answer(Answer::Failed(EngineError::Contended)),
        }
    }
    again
}

/// Answers a single write after a conflict, or returns it to be decided again.
pub fn conflicted(write: Box<dyn QueuedWrite>, conflict: &Conflict) -> Option<Box<dyn QueuedWrite>> {
    again(std::iter::once((write, Answer::Anew)), conflict).pop()
}

impl dyn QueuedWrite {
    /// Whether the conflict is about something that was looked up before the write was queued.
    fn is_named_by(&self, conflict: &Conflict) -> bool {
        match conflict {
            Conflict::State(_) => false,
            Conflict::Pointer(_) => self.target().pointer.is_some(),
            Conflict::Outcome(key) => {
                let call = self.call();
                call.attempt.as_ref().is_some_and(|attempt| attempt.key(&call.caller) == *key)
            }
        }
    }
}
