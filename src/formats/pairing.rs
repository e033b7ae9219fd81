//! Which result answers which call, in messages that are not, or no longer, in a conversation.
//!
//! The rule is the one of [`exchange`](crate::domain::exchange): a result answers the nearest earlier
//! call with its id that is still open, and a user utterance abandons what is open.

use crate::{domain::Role, formats::extras::Parts};

/// How a run of utterances hangs together.
#[derive(Debug, Default)]
pub struct Pairing {
    /// For each utterance the place of the first one of its unit.
    pub unit: Vec<usize>,
    /// For each result the places of the utterance and of the call that it answers.
    pub answers: Vec<Option<(usize, usize)>>,
    /// For each utterance, for each of its calls, the place of its result.
    pub results: Vec<Vec<Option<usize>>>,
}

impl Pairing {
    /// Pairs what is said in `said`.
    pub fn of(said: &[Parts<'_>]) -> Self {
        let mut pairing = Self::default();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut unit = 0;
        for (place, parts) in said.iter().enumerate() {
            if parts.role == Role::User {
                open.clear();
            }
            if open.is_empty() {
                unit = place;
            }
            pairing.unit.push(unit);
            pairing.results.push(vec![None; parts.calls().len()]);
            let answered = pairing.answer(parts, place, &mut open, said);
            pairing.answers.push(answered);
            if parts.role == Role::Assistant {
                open.extend((0..parts.calls().len()).map(|call| (place, call)));
            }
        }
        pairing
    }

    fn answer(
        &mut self,
        parts: &Parts<'_>,
        place: usize,
        open: &mut Vec<(usize, usize)>,
        said: &[Parts<'_>],
    ) -> Option<(usize, usize)> {
        let id = parts.tool_call_id().filter(|_| parts.role == Role::Tool)?;
        let is_it = |(caller, call): &(usize, usize)| *said[*caller].calls()[*call].id == *id;
        let answered = open.remove(open.iter().rposition(is_it)?);
        self.results[answered.0][answered.1] = Some(place);
        Some(answered)
    }
}
