//! Every call is directly followed by its result, and every result has its call.
//!
//! Which result answers which call is described in [`exchange`](crate::domain::exchange). The whole history
//! is available here, so a call that is never answered leaves alone: what was said with it stays, and so do
//! the calls that were answered. A late result becomes a user message in its place.

use std::collections::BTreeMap;

use super::{DropReason, Dropped, Entry, Unit};
use crate::domain::{
    Draft, Role,
    exchange::{Answers, Pairing, Said, note},
};

/// A history in which every call is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paired {
    /// The messages with their results, in the order of the messages.
    pub units: Vec<Unit>,
    /// Results without a call, and calls without a result.
    pub dropped: Vec<Dropped>,
    /// The indexes of the results that did not directly follow their calls.
    pub moved: Vec<usize>,
}

/// Pairs results with calls. `entries` is in the order of the conversation.
pub fn pair(entries: Vec<Entry>) -> Paired {
    let pairing = Pairing::of(entries.iter().map(|entry| Said::from(&entry.draft)));
    let mut paired = Paired::default();
    let mut results: BTreeMap<usize, Entry> = BTreeMap::new();
    let mut messages = Vec::new();
    let notes: Vec<_> = pairing.answers.iter().zip(&entries).map(|said| told_late(said, &entries)).collect();
    for ((place, entry), told) in entries.into_iter().enumerate().zip(notes) {
        match (entry.draft.role, pairing.answers[place]) {
            (Role::Tool, Answers::Nothing) => paired.dropped.extend(orphan(&entry)),
            (Role::Tool, Answers::Open) => _ = results.insert(place, entry),
            _ => {
                let draft = told.unwrap_or(entry.draft);
                messages.push((place, Entry { draft, ..entry }));
            }
        }
    }
    for (place, mut entry) in messages {
        let answers = &pairing.results[place];
        paired.dropped.extend(strip_calls(&mut entry, answers));
        if !says_something(&entry.draft) {
            continue;
        }
        let mut places: Vec<usize> = answers.iter().copied().flatten().collect();
        places.sort_unstable();
        let moved = places.iter().enumerate().filter(|(nth, at)| **at != place + 1 + nth);
        paired.moved.extend(moved.filter_map(|(_, at)| results.get(at)?.index));
        let results = places.iter().filter_map(|at| results.remove(at)).collect();
        paired.units.push(Unit { message: entry, results });
    }
    paired
}

/// A late result as a user message.
fn told_late((answers, entry): (&Answers, &Entry), entries: &[Entry]) -> Option<Draft> {
    let Answers::Late(Some((caller, call))) = *answers else { return None };
    let tool = entries.get(caller)?.draft.tool_calls().get(call).map(|call| &*call.name)?;
    let text = note(tool, entry.draft.tool_call_id()?, &entry.draft.content);
    Some(Draft { role: Role::User, content: text.into(), more: None, ..entry.draft.clone() })
}

/// Removes the unanswered calls from a message, and reports them.
fn strip_calls(entry: &mut Entry, answers: &[Option<usize>]) -> Option<Dropped> {
    let index = entry.index?;
    let more = entry.draft.more.as_mut()?;
    let mut answers = answers.iter();
    let mut lost = Vec::new();
    more.tool_calls.retain(|call| {
        let keep = answers.next().is_some_and(Option::is_some);
        if !keep {
            lost.push(call.id.clone());
        }
        keep
    });
    if lost.is_empty() {
        return None;
    }
    let rest = match says_something(&entry.draft) {
        true => "the rest of the message stays",
        false => "the message says nothing else",
    };
    let text = format!(
        "makes the calls {lost:?}, which have no result and are left out; {rest}. Accepted are calls that a tool message answers before the next user message"
    );
    Some(Dropped { index, reason: DropReason::UnansweredCall, text })
}

fn orphan(entry: &Entry) -> Option<Dropped> {
    let id = entry.draft.tool_call_id().unwrap_or_default();
    let text = format!(
        "answers the call {id:?}, which is not open; accepted: the id of an earlier call that has no result yet, with no user message between"
    );
    Some(Dropped { index: entry.index?, reason: DropReason::OrphanedResult, text })
}

fn says_something(draft: &Draft) -> bool {
    !draft.content.is_empty() || !draft.tool_calls().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::test_entries::*;

    fn shape(paired: &Paired) -> Vec<Vec<usize>> {
        let places = |unit: &Unit| unit.entries().filter_map(|entry| entry.index).collect();
        paired.units.iter().map(places).collect()
    }

    fn reasons(paired: &Paired) -> Vec<(usize, DropReason)> {
        paired.dropped.iter().map(|dropped| (dropped.index, dropped.reason)).collect()
    }

    #[test]
    fn results_follow_their_calls() {
        let paired = pair(numbered([user("q"), calls("", &["a", "b"]), result("b"), result("a"), user("r")]));
        assert_eq!(shape(&paired), [vec![0], vec![1, 2, 3], vec![4]]);
        assert_eq!((paired.dropped, paired.moved), (vec![], vec![]));
    }

    #[test]
    fn what_stands_between_a_call_and_its_result_comes_behind() {
        let paired = pair(numbered([calls("", &["a"]), assistant("wait"), result("a")]));
        assert_eq!(shape(&paired), [vec![0, 2], vec![1]]);
        assert_eq!(paired.moved, [2]);
    }

    #[test]
    fn exchanges_that_overlap_are_told_apart() {
        let paired = pair(numbered([calls("", &["a"]), calls("", &["a"]), result("a"), result("a")]));
        assert_eq!(shape(&paired), [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn a_result_that_comes_late_is_told_by_the_user() {
        let paired = pair(numbered([calls("", &["a"]), user("meanwhile"), result("a"), result("a")]));
        assert_eq!(shape(&paired), [vec![1], vec![2]]);
        assert_eq!(reasons(&paired), [(3, DropReason::OrphanedResult), (0, DropReason::UnansweredCall)]);
        let told = &paired.units[1].message.draft;
        let wanted = "result of `find`, call `a`: it is";
        assert_eq!((told.role, &*told.content, &told.more), (Role::User, wanted, &None));
    }

    #[test]
    fn a_call_without_result_leaves_alone() {
        let paired =
            pair(numbered([calls("let me see", &["a", "b"]), result("b"), user("stop"), result("c")]));
        assert_eq!(shape(&paired), [vec![0, 1], vec![2]]);
        assert_eq!(reasons(&paired), [(3, DropReason::OrphanedResult), (0, DropReason::UnansweredCall)]);
        let left = paired.units[0].message.draft.tool_calls();
        assert_eq!((left.len(), &*left[0].id), (1, "b"));
        assert!(paired.dropped[1].text.contains("the rest of the message stays"));
    }

    #[test]
    fn an_utterance_of_nothing_but_unanswered_calls_leaves() {
        let paired = pair(numbered([user("q"), calls("", &["a"]), user("r")]));
        assert_eq!(shape(&paired), [vec![0], vec![2]]);
        assert_eq!(reasons(&paired), [(1, DropReason::UnansweredCall)]);
    }
}
