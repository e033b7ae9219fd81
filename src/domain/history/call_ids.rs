//! Ids of calls that a provider accepts.

use std::collections::{HashMap, HashSet};

use super::Unit;

/// What a provider asks of the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallIds {
    /// Any text, once in a message (OpenAI).
    OnceInMessage,
    /// Letters, digits, `_` and `-`, at most 64, once in a request (Anthropic).
    OnceInRequest,
}

/// Longest id of [`CallIds::OnceInRequest`], in characters.
const MAX_LENGTH: usize = 64;

/// Changes the ids that are not accepted, of calls and of their results alike; returns how many.
///
/// What is not accepted becomes `_`; an id that is taken gets a number. The result depends on
/// nothing but the messages up to it.
pub fn accept(units: &mut [Unit], rule: CallIds) -> usize {
    let mut ids = Ids::default();
    let mut changed = 0;
    for unit in units {
        if rule == CallIds::OnceInMessage {
            ids = Ids::default();
        }
        changed += accept_unit(unit, rule, &mut ids);
    }
    changed
}

fn accept_unit(unit: &mut Unit, rule: CallIds, ids: &mut Ids) -> usize {
    let Some(more) = unit.message.draft.more.as_mut() else { return 0 };
    // The results of calls with one id are alike for a reader: any order answers each once.
    let mut renamed: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
    let mut changed = 0;
    for call in &mut more.tool_calls {
        let id = ids.take(&call.id, rule);
        changed += usize::from(id != call.id);
        let given = std::mem::replace(&mut call.id, id.clone());
        renamed.entry(given).or_default().push(id);
    }
    for result in &mut unit.results {
        let Some(id) = result.draft.more.as_mut().and_then(|more| more.tool_call_id.as_mut()) else {
            continue;
        };
        // The nearest call is answered first, as pairing does.
        if let Some(new) = renamed.get_mut(id).and_then(Vec::pop) {
            *id = new;
        }
    }
    changed
}

/// The ids that are taken.
#[derive(Default)]
struct Ids {
    taken: HashSet<Box<str>>,
    /// The last number given to an id.
    numbers: HashMap<Box<str>, usize>,
}

impl Ids {
    fn take(&mut self, given: &str, rule: CallIds) -> Box<str> {
        let plain: Box<str> = match rule {
            CallIds::OnceInMessage => given.into(),
            CallIds::OnceInRequest => given.chars().map(accepted).take(MAX_LENGTH).collect::<String>().into(),
        };
        let mut id = plain.clone();
        while !self.taken.insert(id.clone()) {
            let number = self.numbers.entry(plain.clone()).or_insert(1);
            *number += 1;
            let ending = format!("_{number}");
            let kept = plain.chars().take(MAX_LENGTH - ending.len());
            id = kept.chain(ending.chars()).collect::<String>().into();
        }
        id
    }
}

/// The character, or what stands for it.
fn accepted(character: char) -> char {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::{pairing::pair, test_entries::*};

    fn ids(units: &[Unit]) -> Vec<(Vec<&str>, Vec<&str>)> {
        units
            .iter()
            .map(|unit| (call_ids(&unit.message), unit.results.iter().map(answers).collect()))
            .collect()
    }

    #[test]
    fn accepted_ids_stay() {
        let mut units = pair(numbered([
            calls("", &["call:1"]),
            result("call:1"),
            calls("", &["call:1"]),
            result("call:1"),
        ]))
        .units;
        let before = units.clone();
        assert_eq!(accept(&mut units, CallIds::OnceInMessage), 0);
        assert_eq!(units, before);
    }

    #[test]
    fn an_id_twice_in_a_message_gets_a_number() {
        let mut units = pair(numbered([calls("", &["a", "a"]), result("a"), result("a")])).units;
        assert_eq!(accept(&mut units, CallIds::OnceInMessage), 1);
        assert_eq!(ids(&units), [(vec!["a", "a_2"], vec!["a_2", "a"])]);
    }

    #[test]
    fn ids_of_a_whole_request_differ_and_hold_only_what_is_accepted() {
        let long = "x".repeat(80);
        let drafts = [
            calls("", &["a:b", &long]),
            result("a:b"),
            result(&long),
            calls("", &["a_b", &long]),
            result("a_b"),
            result(&long),
        ];
        let mut units = pair(numbered(drafts)).units;
        assert_eq!(accept(&mut units, CallIds::OnceInRequest), 4);
        let (short, numbered) = ("x".repeat(64), format!("{}_2", "x".repeat(62)));
        assert_eq!(ids(&units)[0].0, ["a_b", &short]);
        assert_eq!(ids(&units)[1].1, ["a_b_2", &numbered]);
        assert_eq!(accept(&mut units, CallIds::OnceInRequest), 0, "once accepted, they stay");
    }
}
