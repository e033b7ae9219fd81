//! Writes that are decided in sequence and committed together.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    Applied, Engine, EngineError, Operation, Result,
    applied::{Decided, RuleResult, Value},
    lane::{
        commit::{Extras, Part, Uncommitted},
        decide::{Moved, is_long},
        hold::Hold,
        queued::{Answer, IfAbsent, QueuedWrite, Seen, Target, WriteCall, Writes},
        recipient_state::RecipientStateWrite,
    },
};
use utterd_domain::{ChangeId, Conversation, Revision, end::is_left};
use utterd_store::{Conflict, PointerWrite, RecipientKey};
use utterd_telemetry::panics::Within;

/// Decided writes, in order, each with its answer.
pub type Decisions = SmallVec<[(Box<QueuedWrite>, Answer); 1]>;

/// The most writes in one commit.
pub const MOST: usize = 256;

/// The writes of one commit to one conversation.
pub struct Batch {
    commit: ChangeId,
    part: Part,
    recipient_state: RecipientStateWrite,
    moved: Moved,
    extras: Extras,
    decided: Decisions,
}

/// What is left of a batch after its commit.
pub struct Finished {
    /// The writes to answer. They are answered when the conversation is not held any more: a caller that writes
    /// again at once then finds it free.
    pub answered: Decisions,
    /// The most writes to take for the next commit.
    pub most: usize,
}

/// Why a write is not in a batch.
pub enum NotJoined {
    Error(EngineError),
    /// The address means another conversation by now.
    Elsewhere,
    /// It needs to see stored data that the batch has moved: the batch must be committed first.
    AfterCommit,
    /// Its recipient's conversation was left idle, and the batch is empty.
    RollsOver(Arc<Conversation>),
    /// Deciding panicked: the batch may be changed in part, and must be given up.
    Panicked,
}

impl<E: Into<EngineError>> From<E> for NotJoined {
    fn from(error: E) -> Self {
        Self::Error(error.into())
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
    /// and changes nothing is answered immediately. Returns a write that the batch cannot have.
    pub async fn join(
        &mut self,
        engine: &Arc<Engine>,
        write: Box<QueuedWrite>,
    ) -> Result<(), (Box<QueuedWrite>, NotJoined)> {
        let (write, answer) = self.decide(engine, write).await;
        let answer = match answer {
            Ok(answer) => answer.map(Ok),
            Err(NotJoined::Elsewhere) => None,
            Err(NotJoined::Error(error)) => engine.refused(&write.request.call, &write.target, error).await,
            Err(why) => return Err((write, why)),
        };
        match self.is_empty() {
            true => write.answer(answer),
            false => {
                self.keep_pointer(&write);
                self.decided.push((write, answer));
            }
        }
        Ok(())
    }

    /// Whether there is nothing to commit.
    fn is_empty(&self) -> bool {
        self.part.changes().is_empty() && self.recipient_state.is_empty() && self.extras.outcomes.is_empty()
    }

    async fn decide(
        &mut self,
        engine: &Arc<Engine>,
        write: Box<QueuedWrite>,
    ) -> (Box<QueuedWrite>, Result<Option<Applied<Value>>, NotJoined>) {
        let before = Within::Queue.caught(|| self.before(engine, &write));
        let before = match before.unwrap_or(Err(NotJoined::Panicked)) {
            Ok(before) => before,
            Err(why) => return (write, Err(why)),
        };
        let key = write.request.call.outcome_key();
        if key.is_some_and(|key| self.extras.outcomes.iter().any(|(other, _)| *other == key)) {
            return (write, Ok(None));
        }
        let is_long = is_long(&before, &write.request.call);
        let (write, decision) = engine.decide_write(write, &before, &self.moved, is_long).await;
        let answer = match decision {
            Ok(Some(decision)) => {
                let added = Within::Queue
                    .catching(self.add(engine, (&write.request.call, &write.target), &before, decision))
                    .await;
                added.unwrap_or(Err(NotJoined::Panicked)).map(Some)
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
        (call, target): (&WriteCall, &Target),
        before: &Arc<Conversation>,
        decision: RuleResult<Value>,
    ) -> Result<Applied<Value>, NotJoined> {
        // if something is committed with it, the commit finds out whether the state is the newest
        let is_unchecked = decision.transition.is_none() && self.part.changes().is_empty();
        // boxed: rarely needed, and large
        if is_unchecked && Box::pin(engine.is_outdated(call, target)).await? {
            return Err(NotJoined::Elsewhere);
        }
        let decided = decision.transition.map(|transition| Decided::of(transition, self.commit));
        let done = engine.applied(call, before, decided.as_ref(), decision.named);
        let after = decided.as_ref().map_or(before, |decided| &decided.after);
        let ends = before.head.ended.is_none() && after.head.ended.is_some();
        let released = match ends {
            true => released(engine, self.extras.pointers.first().cloned(), after).await?,
            false => None,
        };
        self.recipient_state.change(engine, call, &before.head.identity, self.commit).await?;
        self.extras.outcomes.extend(call.kept(&done));
        if let Some(decided) = &decided {
            self.moved.add(&decided.change);
            self.part.add(decided, call.operation, call.attempt.as_ref());
            // a conversation addressed by id becomes its recipient's active one when it starts
            let starts = before.head.revision == Revision::NONE;
            let points = call.address.conversation.is_none() || starts;
            self.point(target.pointer.clone().filter(|_| points));
            self.point(released);
        }
        Ok(done.with(decision.value))
    }

    /// Returns the state a write is decided on.
    fn before(&self, engine: &Engine, write: &QueuedWrite) -> Result<Arc<Conversation>, NotJoined> {
        let (call, Target { key, exists, policy, .. }) = (&write.request.call, &write.target);
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
                    true if self.is_empty() => Err(NotJoined::RollsOver(state.clone())),
                    true => Err(NotJoined::AfterCommit),
                    false => Ok(state.clone()),
                }
            }
        }
    }

    /// Lets the commit find out whether the pointer by which a write came here still leads here: whatever it is
    /// answered, as on a state that is not committed yet, is true only then.
    fn keep_pointer(&mut self, write: &QueuedWrite) {
        if write.request.call.address.conversation.is_none() && self.extras.pointers.is_empty() {
            self.point(write.target.pointer.clone());
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

    /// Puts the decided writes before the others, in order, to be decided again.
    pub fn give_up(self, writes: &mut Writes) {
        put_back(writes, self.decided.into_iter().map(|(write, _)| write));
    }

    /// Commits the decided writes. Puts those that have to be decided again before the others, in order, and returns
    /// those to answer.
    pub async fn finish(self, engine: &Engine, writes: &mut Writes) -> Finished {
        if self.is_empty() {
            return Finished::nothing(MOST);
        }
        let Self { part, recipient_state, extras, decided, .. } = self;
        engine.meters.batch.observe(decided.len() as f64);
        let (state, _hold) = recipient_state.done();
        let mut parts: SmallVec<[Part; 1]> = SmallVec::from_buf([part]);
        parts.extend(state);
        let begun = extras.pointers.iter().filter(|pointer| pointer.moves() && pointer.after.is_some());
        let begun: SmallVec<[_; 1]> = begun.map(|pointer| pointer.recipient.clone()).collect();
        let error = match engine.commit(&mut parts, extras).await {
            Ok(()) => {
                let ended = parts[0].ended().map(|ended| RecipientKey::of(&ended.head.identity));
                ended.into_iter().chain(begun).for_each(|recipient| engine.retention.add(recipient));
                return Finished { answered: decided, most: MOST };
            }
            Err(Uncommitted::Conflict(conflict)) => {
                let again = decided.into_iter().filter_map(|(write, _)| conflicted(write, &conflict));
                put_back(writes, again.collect::<Vec<_>>().into_iter());
                return Finished::nothing(MOST);
            }
            // a single one may still fit, or not panic
            Err(Uncommitted::Full(_) | Uncommitted::Panicked) if decided.len() > 1 => {
                put_back(writes, decided.into_iter().map(|(write, _)| write));
                return Finished::nothing(1);
            }
            Err(uncommitted) => EngineError::from(uncommitted),
        };
        let failed = decided.into_iter().map(|(write, _)| (write, Some(Err(error.clone()))));
        Finished { answered: failed.collect(), most: MOST }
    }
}

impl Finished {
    /// There is nothing to answer.
    pub fn nothing(most: usize) -> Self {
        Self { answered: SmallVec::new(), most }
    }
}

fn put_back(writes: &mut Writes, undecided: impl DoubleEndedIterator<Item = Box<QueuedWrite>>) {
    undecided.rev().for_each(|write| writes.push_front(write));
}

pub fn answer(decisions: Decisions) {
    decisions.into_iter().for_each(|(write, answer)| write.answer(answer));
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

/// Returns the write of a conflicting commit if it can be decided again here. Otherwise answers it: it must be resolved
/// again, or was tried too often.
pub fn conflicted(mut write: Box<QueuedWrite>, conflict: &Conflict) -> Option<Box<QueuedWrite>> {
    // whether the conflict is about something that was looked up before the write was queued
    let is_named = match conflict {
        Conflict::State(_) => false,
        Conflict::Pointer(_) => write.target.pointer.is_some(),
        Conflict::Outcome(key) => write.request.call.outcome_key().as_ref() == Some(key),
    };
    let answer = match write.request.try_again() {
        _ if is_named => None,
        Ok(()) => return Some(write),
        Err(error) => Some(Err(error)),
    };
    write.answer(answer);
    None
}
