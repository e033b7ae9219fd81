//! User and assistant take turns (seed 002, "Role Alternation").
//!
//! Tool results are on the user's side and belong to their call, so a user or assistant message after them is
//! in turn. A system message is nobody's turn.

use super::{DropReason, Dropped, Entry, Unit};
use crate::domain::{More, Role};

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

/// Two messages of one role in a row, by their indexes in the request; the prompt has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The role of both.
    pub role: Role,
    /// The index of the earlier one.
    pub first: Option<usize>,
    /// The index of the later one.
    pub second: Option<usize>,
}

/// The first clash of a history. `across_system` ignores system messages in between, for a format that keeps
/// them apart.
pub fn first_clash(units: &[Unit], across_system: bool) -> Option<Clash> {
    let turns: Vec<&Unit> = units.iter().filter(|unit| !is_passed_over(unit, across_system)).collect();
    let pair = turns.windows(2).find(|pair| clash(pair[0], pair[1]))?;
    let (first, second) = (pair[0].message.index, pair[1].message.index);
    Some(Clash { role: pair[0].role(), first, second })
}

/// Keeps only the newest of several messages of one role in a row.
pub fn keep_newest(units: Vec<Unit>, across_system: bool) -> (Vec<Unit>, Vec<Dropped>) {
    let (mut kept, mut dropped) = (Vec::<Unit>::new(), Vec::new());
    for unit in units {
        let last = kept.iter().rposition(|last| !is_passed_over(last, across_system));
        if let Some(place) = last.filter(|place| clash(&kept[*place], &unit)) {
            dropped.extend(superseded(&kept.remove(place)));
        }
        kept.push(unit);
    }
    (kept, dropped)
}

/// Joins several messages of one role in a row; returns how many were joined to the one before them.
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

/// Puts the speaker's name in front of the text.
pub fn put_name_in_text(entry: &mut Entry) {
    let Some(name) = entry.draft.more.as_mut().and_then(|more| more.name.take()) else { return };
    if !entry.draft.content.is_empty() {
        entry.draft.content = format!("{name}: {}", entry.draft.content).into();
    }
}

fn is_turn(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant)
}

fn is_passed_over(unit: &Unit, across_system: bool) -> bool {
    across_system && unit.role() == Role::System
}

fn clash(first: &Unit, second: &Unit) -> bool {
    first.results.is_empty() && is_turn(first.role()) && first.role() == second.role()
}

fn superseded(unit: &Unit) -> Option<Dropped> {
    let role = unit.role();
    let text = format!(
        "is followed by another {role} message; only the newest in a row is kept. Accepted are user and assistant in turn"
    );
    Some(Dropped { index: unit.message.index?, reason: DropReason::Alternation, text })
}

fn join(last: &mut Entry, mut next: Entry) {
    if name(last) != name(&next) {
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

fn name(entry: &Entry) -> Option<&str> {
    entry.draft.more.as_ref()?.name.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::{pairing::pair, test_entries::*};

    fn units<const N: usize>(drafts: [crate::domain::Draft; N]) -> Vec<Unit> {
        pair(numbered(drafts)).units
    }

    fn contents(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| &*entry.draft.content).collect()
    }

    #[test]
    fn a_clash_is_named_by_its_places() {
        let fine = units([system("s"), user("q"), calls("", &["a"]), result("a"), user("r"), assistant("x")]);
        assert_eq!(first_clash(&fine, false), None);
        let clash = units([user("q"), assistant("a"), assistant("b")]);
        let expected = Clash { role: Role::Assistant, first: Some(1), second: Some(2) };
        assert_eq!(first_clash(&clash, false), Some(expected));
    }

    #[test]
    fn system_messages_are_looked_through_when_they_stand_apart() {
        let around = units([user("q"), system("s"), user("r")]);
        assert_eq!(first_clash(&around, false), None);
        assert_eq!(first_clash(&around, true).map(|clash| clash.second), Some(Some(2)));
        assert_eq!(keep_newest(around.clone(), false).0.len(), 3);
        let (kept, dropped) = keep_newest(around, true);
        assert_eq!(kept.iter().filter_map(|unit| unit.message.index).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((dropped.len(), dropped[0].index), (1, 0));
    }

    #[test]
    fn the_newest_of_a_row_is_kept() {
        let row = units([user("1"), user("2"), user("3"), assistant("x"), calls("", &["a"]), result("a")]);
        let (kept, dropped) = keep_newest(row, false);
        assert_eq!(kept.iter().filter_map(|unit| unit.message.index).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(dropped.iter().map(|dropped| dropped.index).collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn a_row_becomes_one_message() {
        let row = numbered([user("1"), user("2"), assistant("x"), calls("", &["a"]), result("a"), user("3")]);
        let (merged, joined) = merge(row);
        assert_eq!(contents(&merged), ["1\n\n2", "x", "it is", "3"]);
        assert_eq!(joined, 2);
        assert_eq!(merged[1].draft.more.as_ref().map(|more| more.tool_calls.len()), Some(1));
    }

    #[test]
    fn speakers_stay_apart_in_one_message() {
        let (merged, _) =
            merge(numbered([named("Ann", "1"), named("Ann", "2"), named("Bob", "3"), user("4")]));
        assert_eq!(contents(&merged), ["Ann: 1\n\n2\n\nBob: 3\n\n4"]);
        assert_eq!(name(&merged[0]), None);
    }
}
