//! Call ids that a provider accepts.

use std::collections::HashMap;

use super::Unit;
use crate::domain::call_ids::{CallIds, Rule};

/// Changes the ids that are not accepted, of calls and their results; returns how many.
///
/// Each id depends only on the messages up to it.
pub fn accept(units: &mut [Unit], rule: Rule) -> usize {
    let mut ids = CallIds::by(rule);
    units.iter_mut().map(|unit| accept_unit(unit, &mut ids)).sum()
}

fn accept_unit(unit: &mut Unit, ids: &mut CallIds) -> usize {
    let Some(more) = unit.message.draft.more.as_mut() else { return 0 };
    ids.next_message();
    // A reader cannot tell the results of calls with one id apart: any order answers each once.
    let mut renamed: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
    let mut changed = 0;
    for call in &mut more.tool_calls {
        let id: Box<str> = ids.assign(&call.id, "").into();
        changed += usize::from(id != call.id);
        let given = std::mem::replace(&mut call.id, id.clone());
        renamed.entry(given).or_default().push(id);
    }
    for result in &mut unit.results {
        let Some(id) = result.draft.more.as_mut().and_then(|more| more.tool_call_id.as_mut()) else {
            continue;
        };
        // The nearest call is answered first, as in pairing.
        if let Some(new) = renamed.get_mut(id).and_then(Vec::pop) {
            *id = new;
        }
    }
    changed
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
        assert_eq!(accept(&mut units, Rule::OPENAI_CHAT), 0);
        assert_eq!(units, before);
    }

    #[test]
    fn an_id_twice_in_a_message_gets_a_number() {
        let mut units = pair(numbered([calls("", &["a", "a"]), result("a"), result("a")])).units;
        assert_eq!(accept(&mut units, Rule::OPENAI_CHAT), 1);
        assert_eq!(ids(&units), [(vec!["a", "a_2"], vec!["a_2", "a"])]);
    }

    #[test]
    fn an_id_that_is_too_long_is_cut_and_its_result_goes_along() {
        let long = ["a".repeat(41), "a".repeat(60)];
        let drafts = [calls("", &[&long[0], &long[1]]), result(&long[0]), result(&long[1])];
        let mut units = pair(numbered(drafts)).units;
        assert_eq!(accept(&mut units, Rule::OPENAI_CHAT), 2);
        let (first, second) = ("a".repeat(40), format!("{}_2", "a".repeat(38)));
        assert_eq!(ids(&units), [(vec![&*first, &second], vec![&*first, &second])]);
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
        assert_eq!(accept(&mut units, Rule::ANTHROPIC), 4);
        let (short, numbered) = ("x".repeat(64), format!("{}_2", "x".repeat(62)));
        assert_eq!(ids(&units)[0].0, ["a_b", &short]);
        assert_eq!(ids(&units)[1].1, ["a_b_2", &numbered]);
        assert_eq!(accept(&mut units, Rule::ANTHROPIC), 0, "once accepted, they stay");
    }
}
