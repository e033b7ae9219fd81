//! User and assistant take turns (seed 002, "Role Alternation").
//!
//! Tool results are on the user's side and belong to their call, so a user or assistant message after them is
//! in turn. A system message is nobody's turn.

use super::{Entry, Unit};
use crate::{More, Role};

/// What happens to two messages of one role in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternation {
    /// They become one message.
    #[default]
    Merge,
    /// The newer one is kept.
    Drop,
    /// The history is refused.
    Reject,
}

/// The places of each pair of consecutive messages of the same role. `across_system` ignores system messages
/// in between, for a format that sends them separately.
pub fn clashes(units: &[Unit], across_system: bool) -> Vec<(usize, usize)> {
    let takes_turn = |place: &usize| !across_system || units[*place].role() != Role::System;
    let turns: Vec<usize> = (0..units.len()).filter(takes_turn).collect();
    let pairs = turns.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|(first, second)| clash(&units[*first], &units[*second])).collect()
}

fn clash(first: &Unit, second: &Unit) -> bool {
    first.results.is_empty() && is_turn(first.role()) && first.role() == second.role()
}

fn is_turn(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant)
}

/// Joins consecutive messages of the same role; returns how many were joined to the message before them.
///
/// Their texts become one message, separated by an empty line. If their speakers have different names, each
/// text begins with its speaker's name.
pub fn merge(entries: Vec<Entry>) -> (Vec<Entry>, usize) {
    let (mut merged, before) = (Vec::<Entry>::new(), entries.len());
    for entry in entries {
        match merged.last_mut() {
            Some(last) if is_turn(last.draft.role) && last.draft.role == entry.draft.role => {
                join(last, entry)
            }
            _ => merged.push(entry),
        }
    }
    let joined = before - merged.len();
    (merged, joined)
}

fn join(last: &mut Entry, mut next: Entry) {
    if last.draft.name() != next.draft.name() {
        put_name_in_text(last);
        put_name_in_text(&mut next);
    }
    let (first, second) = (&last.draft.content, &next.draft.content);
    let between = if first.is_empty() || second.is_empty() { "" } else { "\n\n" };
    last.draft.content = [first, between, second].concat().into();
    if let Some(more) = next.draft.more {
        last.draft.more.get_or_insert_with(|| Box::new(More::default())).tool_calls.extend(more.tool_calls);
    }
}

/// Puts the speaker's name in front of the text.
pub fn put_name_in_text(entry: &mut Entry) {
    let Some(name) = entry.draft.more.as_mut().and_then(|more| more.name.take()) else { return };
    if !entry.draft.content.is_empty() {
        entry.draft.content = format!("{name}: {}", entry.draft.content).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::test_units::*;

    fn entries<const N: usize>(drafts: [crate::Draft; N]) -> Vec<Entry> {
        units(drafts).iter().flat_map(Unit::entries).cloned().collect()
    }

    fn contents(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| &*entry.draft.content).collect()
    }

    #[test]
    fn a_clash_is_named_by_its_places() {
        let fine = [system("s"), user("q"), calls("", &["a"]), result("a"), user("r"), assistant("x")];
        assert_eq!(clashes(&units(fine), false), []);
        assert_eq!(clashes(&units([user("q"), assistant("a"), assistant("b")]), false), [(1, 2)]);
        let row = units([user("1"), user("2"), user("3"), assistant("x"), calls("", &["a"]), result("a")]);
        assert_eq!(clashes(&row, false), [(0, 1), (1, 2), (3, 4)]);
    }

    #[test]
    fn system_messages_are_looked_through_when_they_stand_apart() {
        let around = units([user("q"), system("s"), user("r")]);
        assert_eq!(clashes(&around, false), []);
        assert_eq!(clashes(&around, true), [(0, 2)]);
    }

    #[test]
    fn a_row_becomes_one_message() {
        let row = entries([user("1"), user("2"), assistant("x"), calls("", &["a"]), result("a"), user("3")]);
        let (merged, joined) = merge(row);
        assert_eq!(contents(&merged), ["1\n\n2", "x", "it is", "3"]);
        assert_eq!(joined, 2);
        assert_eq!(merged[1].draft.more.as_ref().map(|more| more.tool_calls.len()), Some(1));
    }

    #[test]
    fn speakers_stay_apart_in_one_message() {
        let (merged, _) =
            merge(entries([named("Ann", "1"), named("Ann", "2"), named("Bob", "3"), user("4")]));
        assert_eq!(contents(&merged), ["Ann: 1\n\n2\n\nBob: 3\n\n4"]);
        assert_eq!(merged[0].draft.name(), None);
    }
}
