//! Which results answer which calls, in the order of the conversation.

use std::{borrow::Borrow, collections::HashMap, hash::Hash};

use crate::{Role, ToolCall, Utterance};

/// The calls waiting for a result while utterances are read in order; a `C` for each call.
#[derive(Clone, Debug)]
pub struct OpenCalls<Id, C> {
    /// By id, the next to be answered last.
    calls: HashMap<Id, Vec<C>>,
    count: usize,
}

impl<Id, C> Default for OpenCalls<Id, C> {
    fn default() -> Self {
        Self { calls: HashMap::new(), count: 0 }
    }
}

impl<Id: Borrow<str> + Eq + Hash, C> OpenCalls<Id, C> {
    /// Adds the calls of one utterance, in their order. Calls with the same id are answered in that order.
    pub fn open(&mut self, calls: impl DoubleEndedIterator<Item = (Id, C)>) {
        for (id, call) in calls.rev() {
            self.calls.entry(id).or_default().push(call);
            self.count += 1;
        }
    }

    /// The call that a result for `id` answers; `None` if no such call waits.
    pub fn answer(&mut self, id: &str) -> Option<C> {
        let call = self.calls.get_mut(id)?.pop()?;
        self.count -= 1;
        Some(call)
    }

    /// Leaves the open calls unanswered.
    pub fn abandon(&mut self) {
        self.calls.clear();
        self.count = 0;
    }

    /// Moves the open calls to `others`, as the nearest.
    fn abandon_to(&mut self, others: &mut Self) {
        others.count += self.count;
        for (id, calls) in self.calls.drain() {
            others.calls.entry(id).or_default().extend(calls);
        }
        self.count = 0;
    }

    /// Whether no call waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The parts of an utterance that pairing looks at.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The speaker's role.
    pub role: Role,
    /// The calls it makes.
    pub calls: &'a [ToolCall],
    /// The id of the call it answers.
    pub answers: Option<&'a str>,
    /// Whether it is known to be a late result.
    pub late: bool,
    /// Whether it is in one unit with what the assistant says next.
    pub leads: bool,
}

impl<'a> From<&'a Utterance> for Said<'a> {
    fn from(utterance: &'a Utterance) -> Self {
        Self {
            role: utterance.role,
            calls: utterance.tool_calls(),
            answers: utterance.tool_call_id(),
            late: utterance.late().is_some(),
            leads: utterance.leads(),
        }
    }
}

/// What an utterance answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// No call.
    Nothing,
    /// A call that was open.
    Open,
    /// A call that was abandoned: the places of the utterance and of the call in it, if they are known.
    Late(Option<(usize, usize)>),
}

/// Which results answer which calls, in a run of utterances.
#[derive(Debug, Default)]
pub struct Pairing {
    /// For each utterance, the place of the first one of its unit.
    pub unit: Vec<usize>,
    /// For each utterance, what it answers.
    pub answers: Vec<Answers>,
    /// For each utterance and each of its calls, the place of the result that came while the call was open.
    pub results: Vec<Vec<Option<usize>>>,
}

impl Pairing {
    /// Pairs what is said, in order.
    pub fn of<'a>(said: impl IntoIterator<Item = Said<'a>>) -> Self {
        let mut pairing = Self::default();
        let mut open: OpenCalls<&str, (usize, usize)> = OpenCalls::default();
        let mut abandoned = OpenCalls::default();
        let (mut unit, mut leads) = (0, false);
        for (place, said) in said.into_iter().enumerate() {
            if said.role == Role::User {
                open.abandon_to(&mut abandoned);
            }
            if open.is_empty() && !(leads && said.role == Role::Assistant) {
                unit = place;
            }
            leads = said.leads;
            let id = said.answers.filter(|_| said.role == Role::Tool);
            let answered = id.filter(|_| !said.late).and_then(|id| open.answer(id));
            let answers = match answered {
                Some((caller, call)) => {
                    pairing.results[caller][call] = Some(place);
                    Answers::Open
                }
                None => match id.and_then(|id| abandoned.answer(id)) {
                    None if !said.late => Answers::Nothing,
                    call => Answers::Late(call),
                },
            };
            open.open(said.calls.iter().enumerate().map(|(call, made)| (&*made.id, (place, call))));
            pairing.unit.push(unit);
            pairing.answers.push(answers);
            pairing.results.push(vec![None; said.calls.len()]);
        }
        pairing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "f".into(), arguments_json: "{}".into() }
    }

    #[test]
    fn the_nearest_open_call_is_answered_and_a_user_abandons_the_others() {
        let calls = [call("a")];
        let calling = Said { role: Role::Assistant, calls: &calls, answers: None, late: false, leads: false };
        let result = Said { role: Role::Tool, calls: &[], answers: Some("a"), late: false, leads: false };
        let user = Said { role: Role::User, calls: &[], answers: None, late: false, leads: false };
        let said = [calling, calling, result, user, result, result, calling, result];
        let pairing = Pairing::of(said);
        let none = || vec![];
        let results = [vec![None], vec![Some(2)], none(), none(), none(), none(), vec![Some(7)], none()];
        assert_eq!(pairing.results, results);
        let late = Answers::Late(Some((0, 0)));
        let (no, open) = (Answers::Nothing, Answers::Open);
        assert_eq!(pairing.answers, [no, no, open, no, late, no, no, open]);
        assert_eq!(pairing.unit, [0, 0, 0, 3, 4, 5, 6, 6]);
    }

    #[test]
    fn calls_of_one_utterance_with_the_same_id_are_answered_in_their_order() {
        let calls = [call("a"), call("b"), call("a")];
        let calling = Said { role: Role::Assistant, calls: &calls, answers: None, late: false, leads: false };
        let result = Said { role: Role::Tool, calls: &[], answers: Some("a"), late: false, leads: false };
        let user = Said { role: Role::User, calls: &[], answers: None, late: false, leads: false };
        let pairing = Pairing::of([calling, result, calling, result, result, result, user]);
        assert_eq!(
            pairing.results[..3],
            [vec![Some(1), None, Some(5)], vec![], vec![Some(3), None, Some(4)]]
        );
        let pairing = Pairing::of([calling, user, result, result]);
        assert_eq!(pairing.answers[2..], [0, 2].map(|call| Answers::Late(Some((0, call)))));
    }
}
