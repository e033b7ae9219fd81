//! Pairing tool results with their calls.
//!
//! A result answers the nearest earlier call with its id that is still open; a user utterance abandons
//! what is open. Ids may recur in a conversation (seed 003, "Tool Call/Result Pairing"; real transcripts
//! reuse ids).
//!
//! [`OpenExchange`] is kept with a conversation; [`OpenCalls`] goes along with whoever reads one in its
//! order; [`Pairing`] is that of a whole run of utterances.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, sync::Arc};

use crate::domain::{Draft, Role, Sequence, ToolCall, Utterance};

/// The exchange at the end of a conversation whose calls are not all answered. What follows
/// its first utterance belongs to its unit until every call is answered, or until a user
/// utterance abandons it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenExchange {
    /// The first utterance of the unit.
    pub unit: Sequence,
    /// The ids of the calls that wait, in the order they were made.
    pub calls: Vec<Box<str>>,
}

impl OpenExchange {
    /// Opens an exchange, or adds calls to the one that is open.
    pub fn with_calls(open: Option<&Self>, unit: Sequence, calls: &[ToolCall]) -> Self {
        let mut exchange = open.cloned().unwrap_or(Self { unit, calls: Vec::new() });
        exchange.calls.extend(calls.iter().map(|call| call.id.clone()));
        exchange
    }

    /// The exchange that is open after `members`, the utterances of a unit; a forgotten one is abandoned.
    pub fn after<'a>(members: impl IntoIterator<Item = &'a Arc<Utterance>>) -> Option<Self> {
        let mut open: Option<Self> = None;
        let mut unit = None;
        for member in members {
            if member.forgotten {
                return None;
            }
            let unit = *unit.get_or_insert(member.sequence);
            open = match (member.role, member.tool_call_id()) {
                _ if member.aside => open,
                (Role::Assistant, _) if !member.tool_calls().is_empty() => {
                    Some(Self::with_calls(open.as_ref(), unit, member.tool_calls()))
                }
                (Role::Tool, Some(call)) => open.and_then(|open| open.answered(call).ok().flatten()),
                _ => open,
            };
        }
        open
    }

    /// The exchange after a result for `call_id`: `Err` when no such call waits, `Ok(None)`
    /// when it was the last one.
    pub fn answered(&self, call_id: &str) -> Result<Option<Self>, NoSuchCall> {
        let nearest = self.calls.iter().rposition(|call| **call == *call_id);
        let mut rest = self.clone();
        rest.calls.remove(nearest.ok_or(NoSuchCall)?);
        Ok((!rest.calls.is_empty()).then_some(rest))
    }
}

/// No open call has the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchCall;

/// The calls that wait for a result, while utterances are read in their order; of each call, a `C`.
#[derive(Clone, Debug, Default)]
pub struct OpenCalls<Id, C> {
    /// By their ids, the nearest last.
    calls: HashMap<Id, Vec<C>>,
    count: usize,
}

impl<Id: Borrow<str> + Eq + Hash, C> OpenCalls<Id, C> {
    /// A call is made.
    pub fn open(&mut self, id: Id, call: C) {
        self.calls.entry(id).or_default().push(call);
        self.count += 1;
    }

    /// The call that a result for `id` answers; `None` when no such call waits.
    pub fn answer(&mut self, id: &str) -> Option<C> {
        let call = self.calls.get_mut(id)?.pop()?;
        self.count -= 1;
        Some(call)
    }

    /// The calls that are open stay unanswered.
    pub fn abandon(&mut self) {
        self.calls.clear();
        self.count = 0;
    }

    /// Whether no call waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What pairing looks at in an utterance.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Who speaks.
    pub role: Role,
    /// The calls that it makes.
    pub calls: &'a [ToolCall],
    /// The id of the call that it answers.
    pub answers: Option<&'a str>,
}

impl<'a> From<&'a Draft> for Said<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self { role: draft.role, calls: draft.tool_calls(), answers: draft.tool_call_id() }
    }
}

impl<'a> From<&'a Utterance> for Said<'a> {
    fn from(utterance: &'a Utterance) -> Self {
        Self { role: utterance.role, calls: utterance.tool_calls(), answers: utterance.tool_call_id() }
    }
}

/// Which results answer which calls, in a run of utterances.
#[derive(Debug, Default)]
pub struct Pairing {
    /// For each utterance the place of the first one of its unit.
    pub unit: Vec<usize>,
    /// For each utterance, whether it is a result that answers a call.
    pub answers: Vec<bool>,
    /// For each utterance, for each of its calls, the place of its result.
    pub results: Vec<Vec<Option<usize>>>,
}

impl Pairing {
    /// Pairs what is said, in its order.
    pub fn of<'a>(said: impl IntoIterator<Item = Said<'a>>) -> Self {
        let mut pairing = Self::default();
        let mut open: OpenCalls<&str, (usize, usize)> = OpenCalls::default();
        let mut unit = 0;
        for (place, said) in said.into_iter().enumerate() {
            if said.role == Role::User {
                open.abandon();
            }
            if open.is_empty() {
                unit = place;
            }
            let id = said.answers.filter(|_| said.role == Role::Tool);
            let answered = id.and_then(|id| open.answer(id));
            if let Some((caller, call)) = answered {
                pairing.results[caller][call] = Some(place);
            }
            for (call, made) in said.calls.iter().enumerate() {
                open.open(&made.id, (place, call));
            }
            pairing.unit.push(unit);
            pairing.answers.push(answered.is_some());
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
    fn parallel_calls_are_answered_in_any_order() {
        let open = OpenExchange::with_calls(None, Sequence(2), &[call("a"), call("b")]);
        let rest = open.answered("b").unwrap().unwrap();
        assert_eq!(rest.answered("b"), Err(NoSuchCall));
        assert_eq!(rest.answered("a"), Ok(None));
    }

    #[test]
    fn an_id_used_twice_needs_two_answers() {
        let open = OpenExchange::with_calls(None, Sequence(2), &[call("a"), call("a")]);
        let rest = open.answered("a").unwrap().unwrap();
        assert_eq!(rest.answered("a"), Ok(None));
    }

    #[test]
    fn exchanges_that_overlap_are_one_unit() {
        let open = OpenExchange::with_calls(None, Sequence(2), &[call("a")]);
        let both = OpenExchange::with_calls(Some(&open), Sequence(3), &[call("b")]);
        assert_eq!(both.unit, Sequence(2));
        assert_eq!(both.calls.len(), 2);
    }

    #[test]
    fn the_nearest_open_call_is_answered_and_a_user_abandons_the_others() {
        let calls = [call("a")];
        let calling = Said { role: Role::Assistant, calls: &calls, answers: None };
        let result = Said { role: Role::Tool, calls: &[], answers: Some("a") };
        let user = Said { role: Role::User, calls: &[], answers: None };
        let pairing = Pairing::of([calling, calling, result, user, result]);
        assert_eq!(pairing.results, [vec![None], vec![Some(2)], vec![], vec![], vec![]]);
        assert_eq!(pairing.answers, [false, false, true, false, false]);
        assert_eq!(pairing.unit, [0, 0, 0, 3, 4]);
    }
}
