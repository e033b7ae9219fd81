//! The result of a write: the decision, its outcome, and the answer to the caller.

use std::sync::Arc;

use crate::{
    Attempt, Facts,
    events::{
        facts::Named,
        references::{Among, references},
    },
};
use utterd_domain::{Change, ChangeId, Conversation, Timestamp, Transition, Utterance, capacity::Capacity};
use utterd_store::Outcome;

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

/// The result of a write that was made, or only rehearsed.
pub(super) struct Done {
    pub outcome: Arc<Outcome>,
    pub after: Arc<Conversation>,
    pub change: Option<Arc<Change>>,
    /// Utterances that the outcome names and the change may not contain, ascending.
    utterances: Vec<Arc<Utterance>>,
}

impl Done {
    /// Returns the result of a decision on `before`, whether or not it changes anything.
    pub(super) fn on(
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
        now: Timestamp,
    ) -> Self {
        let (after, change, mut outcome) = match decided {
            Some(Decided { change, after, facts }) => {
                (after, Some(change.clone()), facts.outcome(after, after.head.update_time, &named))
            }
            None => (before, None, Facts::none(&before.head).outcome(before, now, &named)),
        };
        outcome.references = references(&outcome, &Among::of(&named.utterances, change.as_deref()), after);
        Self { outcome: Arc::new(outcome), after: after.clone(), change, utterances: named.utterances }
    }

    /// Returns the result of a decision at `now` that is never committed: its revision is the present one, which the
    /// call itself can expect.
    pub(super) fn rehearsed(
        before: &Arc<Conversation>,
        transition: Option<Transition>,
        named: Named,
        now: Timestamp,
    ) -> Self {
        let decided = transition.map(|transition| Decided::of(transition, before.head.change));
        let mut done = Self::on(before, decided.as_ref(), named, now);
        Arc::make_mut(&mut done.outcome).revision = before.head.revision;
        done
    }

    /// Records the hash of the attempt's body in the outcome, by which a repeated attempt is recognized.
    pub(super) fn by(mut self, attempt: Option<&Attempt>) -> Self {
        if let Some(attempt) = attempt {
            Arc::make_mut(&mut self.outcome).body = attempt.body;
        }
        self
    }
}

/// The result of a write for its caller: the same facts whether it was decided now or by an earlier attempt.
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

impl<T> Applied<T> {
    /// Creates the result of a write decided now.
    pub(super) fn now(done: Done, value: T) -> Self {
        let Done { outcome, after, change, utterances } = done;
        Self { outcome, state: Some(after), change, value: Some(value), utterances }
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
