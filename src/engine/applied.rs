//! The result of a write: what was decided, what became of it, and the answer to its caller.

use std::sync::Arc;

use crate::{
    domain::{
        Change, ChangeId, Conversation, Sequence, Timestamp, Transition, Utterance, capacity::Capacity,
    },
    engine::{Attempt, Facts, facts::Named},
    store::Outcome,
};

/// A decided change, and the state it leads to.
#[derive(Clone)]
pub(super) struct Decided {
    pub change: Arc<Change>,
    pub after: Arc<Conversation>,
    pub facts: Arc<Facts>,
}

impl Decided {
    /// Names the state after the commit it will be part of.
    pub(super) fn of(transition: impl Into<Box<Transition>>, commit: ChangeId) -> Self {
        let Transition { change, mut after } = *transition.into();
        after.head.change = commit;
        let facts = Arc::new(Facts::of(&change, &after.head));
        Self { change: Arc::new(change), after: Arc::new(after), facts }
    }
}

/// What a write did, or would do.
pub(super) struct Done {
    pub outcome: Arc<Outcome>,
    pub after: Arc<Conversation>,
    pub change: Option<Arc<Change>>,
}

impl Done {
    /// Returns the result of a decision on `before`, whether or not it changes anything.
    pub(super) fn on(
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
        now: Timestamp,
    ) -> Self {
        let (after, change, outcome) = match decided {
            Some(Decided { change, after, facts }) => {
                (after, Some(change.clone()), facts.outcome(after, after.head.update_time, named))
            }
            None => (before, None, Facts::none(&before.head).outcome(before, now, named)),
        };
        Self { outcome: Arc::new(outcome), after: after.clone(), change }
    }

    /// Returns the result of a decision at `now` that is never committed.
    pub(super) fn rehearsed(
        before: &Arc<Conversation>,
        transition: Option<Transition>,
        now: Timestamp,
    ) -> Self {
        let decided = transition.map(|transition| Decided::of(transition, before.head.change));
        Self::on(before, decided.as_ref(), Named::default(), now)
    }

    /// Marks the outcome as an attempt's, which is recognized by its body.
    pub(super) fn by(mut self, attempt: Option<&Attempt>) -> Self {
        if let Some(attempt) = attempt {
            Arc::make_mut(&mut self.outcome).body = attempt.body;
        }
        self
    }
}

/// The result of a write as its caller sees it: the same facts whether it was decided now or by an earlier
/// attempt.
#[derive(Debug)]
pub struct Applied<T> {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// The conversation after the write, or its current state if an earlier attempt decided it; `None` if it
    /// was deleted since.
    pub state: Option<Arc<Conversation>>,
    /// The change, if there was one and it was decided now.
    pub change: Option<Arc<Change>>,
    /// What else the response needs; `None` if an earlier attempt decided it.
    pub value: Option<T>,
    /// Utterances named by the outcome, ascending; those in the change need not be among them.
    utterances: Vec<Arc<Utterance>>,
}

impl<T> Applied<T> {
    /// The result of a write decided now.
    pub(super) fn now(done: Done, value: T) -> Self {
        let Done { outcome, after, change } = done;
        Self { outcome, state: Some(after), change, value: Some(value), utterances: Vec::new() }
    }

    /// The result of a write decided by an earlier attempt: the conversation's current state, and those
    /// utterances named by the outcome that are still stored, ascending.
    pub(super) fn earlier(
        outcome: Arc<Outcome>,
        state: Option<Arc<Conversation>>,
        utterances: Vec<Arc<Utterance>>,
    ) -> Self {
        Self { outcome, state, change: None, value: None, utterances }
    }

    /// Converts what else the response needs.
    pub(super) fn map<U>(self, make: impl FnOnce(T) -> U) -> Applied<U> {
        let Self { outcome, state, change, value, utterances } = self;
        Applied { outcome, state, change, value: value.map(make), utterances }
    }

    /// Adds the utterances that the outcome names and the change does not contain, ascending.
    pub(super) fn naming(mut self, named: impl FnOnce(&T) -> Vec<Arc<Utterance>>) -> Self {
        if let Some(value) = &self.value {
            self.utterances = named(value);
        }
        self
    }

    /// Moves the result to a later state of the conversation.
    pub(super) fn at(self, state: Arc<Conversation>, value: T) -> Self {
        let (revision, capacity) = (state.head.revision, Capacity::of(&state));
        let outcome = Outcome { revision, capacity, ..(*self.outcome).clone() };
        Self { outcome: Arc::new(outcome), state: Some(state), value: Some(value), ..self }
    }

    /// Whether an earlier attempt decided it.
    pub fn replayed(&self) -> bool {
        self.value.is_none()
    }

    /// Returns an utterance named by the outcome; `None` if it was removed since.
    pub fn utterance(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        let changed = self.change.iter().flat_map(|change| {
            [&change.appended, &change.evicted, &change.returned, &change.rewritten].map(Vec::as_slice)
        });
        std::iter::once(self.utterances.as_slice()).chain(changed).find_map(|utterances| {
            let place = utterances.binary_search_by_key(&sequence, |utterance| utterance.sequence).ok()?;
            utterances.get(place)
        })
    }
}
