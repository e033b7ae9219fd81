//! The result of a write: the decision, its outcome, and the answer to the caller.

use std::{any::Any, sync::Arc};

use crate::{
    Attempt, EngineError, Facts, Result,
    events::{
        facts::Named,
        references::{Among, references},
    },
};
use utterd_domain::{Change, ChangeId, Conversation, Timestamp, Transition, Utterance, capacity::Capacity};
use utterd_store::Outcome;

/// The result of a rule for a conversation.
pub struct RuleResult<T> {
    /// The changes, if any. Boxed: it is large, and is passed on several times.
    pub transition: Option<Box<Transition>>,
    /// What else its outcome names.
    pub named: Named,
    /// What else the response needs.
    pub value: T,
}

impl<T> RuleResult<T> {
    /// The result of a rule whose outcome names nothing else.
    pub fn of(transition: impl Into<Option<Transition>>, value: T) -> Self {
        Self { transition: transition.into().map(Box::new), named: Named::default(), value }
    }
}

/// What else the response to a write needs, of the type that its caller expects.
pub(super) type Value = Box<dyn Any + Send>;

/// A decided change, and the state it leads to.
#[derive(Clone)]
pub(super) struct Decided {
    pub change: Arc<Change>,
    pub after: Arc<Conversation>,
    pub facts: Arc<Facts>,
}

impl Decided {
    /// Creates the decision of a transition, whose state will be written by `commit`.
    pub(super) fn of(transition: impl Into<Box<Transition>>, commit: ChangeId) -> Self {
        let Transition { change, mut after } = *transition.into();
        after.head.change = commit;
        let facts = Arc::new(Facts::of(&change, &after.head));
        Self { change: Arc::new(change), after: Arc::new(after), facts }
    }
}

/// The result of a write: the same facts whether it was decided now or by an earlier attempt.
#[derive(Debug)]
pub struct Applied<T> {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// The conversation after the write, or its current state if an earlier attempt decided the write; `None`
    /// if the conversation was deleted since.
    pub state: Option<Arc<Conversation>>,
    /// The change, if there was one and the write was decided now.
    pub change: Option<Arc<Change>>,
    /// What else the response needs; `None` if an earlier attempt decided the write.
    pub value: Option<T>,
    /// Utterances that the call is about, ascending; those in the change may be missing.
    utterances: Vec<Arc<Utterance>>,
}

impl Applied<()> {
    /// Creates the result of a decision on `before`, whether or not it changes anything. The outcome has the hash of
    /// the attempt's body, by which a repeated attempt is recognized.
    pub(super) fn on(
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Self {
        let (after, change, mut outcome) = match decided {
            Some(Decided { change, after, facts }) => {
                (after, Some(change.clone()), facts.outcome(after, after.head.update_time, &named))
            }
            None => (before, None, Facts::none(&before.head).outcome(before, now, &named)),
        };
        outcome.references = references(&outcome, &Among::of(&named.utterances, change.as_deref()), after);
        outcome.body = attempt.map_or(0, |attempt| attempt.body);
        let (outcome, state) = (Arc::new(outcome), Some(after.clone()));
        Self { outcome, state, change, value: Some(()), utterances: named.utterances }
    }
}

impl Applied<Value> {
    /// Returns the result with the type of what else its rule returned.
    pub(super) fn typed<T: 'static>(mut self) -> Result<Applied<T>> {
        let value = self.value.take().and_then(|value| value.downcast().ok());
        Ok(self.with(*value.ok_or(EngineError::Interrupted)?))
    }
}

impl<T> Applied<T> {
    /// Creates the result of a rule at `now` that is never committed: its revision is the present one, which the call
    /// itself can expect.
    pub(super) fn rehearsed(before: &Arc<Conversation>, result: RuleResult<T>, now: Timestamp) -> Self {
        let decided = result.transition.map(|transition| Decided::of(transition, before.head.change));
        let mut applied = Applied::on(before, decided.as_ref(), result.named, None, now);
        Arc::make_mut(&mut applied.outcome).revision = before.head.revision;
        applied.with(result.value)
    }

    /// Creates the result of a write decided by an earlier attempt: the conversation's current state, and the
    /// utterance that the call is about, if it is still stored.
    pub(super) fn earlier(
        outcome: Arc<Outcome>,
        state: Option<Arc<Conversation>>,
        utterances: Vec<Arc<Utterance>>,
    ) -> Self {
        Self { outcome, state, change: None, value: None, utterances }
    }

    /// Replaces what else the response needs.
    pub(super) fn with<U>(self, value: U) -> Applied<U> {
        let Self { outcome, state, change, utterances, .. } = self;
        Applied { outcome, state, change, value: Some(value), utterances }
    }

    /// Moves the result to a later state of the conversation.
    pub(super) fn at(self, state: Arc<Conversation>, value: T) -> Self {
        let (revision, capacity) = (state.head.revision, Capacity::of(&state));
        let outcome = Outcome { revision, capacity, ..(*self.outcome).clone() };
        Self { outcome: Arc::new(outcome), state: Some(state), value: Some(value), ..self }
    }

    /// Whether an earlier attempt decided the write.
    pub fn replayed(&self) -> bool {
        self.value.is_none()
    }

    /// Returns the utterance that the call is about, as it is now; `None` if it was removed since.
    pub fn target(&self) -> Option<&Arc<Utterance>> {
        Among::of(&self.utterances, self.change.as_deref()).find(self.outcome.target?)
    }
}
