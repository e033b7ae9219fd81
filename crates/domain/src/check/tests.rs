//! A state that the rules made has nothing wrong with it, and damage to it is reported.

use std::sync::Arc;

use crate::{
    Conversation, Identity, Marks, Policy, Ranges, Revision, Role, Sequence, Utterance, testing::said,
};

fn utterance(sequence: u64) -> Arc<Utterance> {
    Arc::new(Utterance { turn: sequence as u32, tokens: 5, ..said(sequence, Role::User, "To Oslo.") })
}

/// Three utterances in the window, and two in the archive.
fn state() -> Conversation {
    let mut state = Conversation::new(Identity::default(), Policy { archive_limit: 2, ..Policy::ROLLING });
    let left = Arc::new(Ranges::of(Sequence(1), Sequence(2)));
    state.window = (3..=5).map(utterance).collect();
    let head = &mut state.head;
    (head.revision, head.next, head.turn, head.stored) = (Revision(5), Sequence(6), 5, 5);
    (head.left, head.archived, head.only_instructions) = (left.clone(), left, false);
    head.window_tokens = 15;
    state
}

fn wrong(change: impl FnOnce(&mut Conversation)) -> Vec<String> {
    let mut state = state();
    change(&mut state);
    state.check()
}

#[test]
fn what_the_rules_leave_is_right() {
    assert_eq!(wrong(|_| {}), [""; 0]);
}

#[test]
fn what_does_not_fit_is_told() {
    assert_eq!(
        wrong(|state| state.head.revision = Revision(0)),
        ["the revision is 0; a stored conversation has one"]
    );
    assert_eq!(wrong(|state| state.head.stored = 6), ["its head counts 6 utterances, but there are 5"]);
    assert_eq!(
        wrong(|state| state.head.policy.archive_limit = 1),
        ["2 utterances are archived; its policy allows 1"]
    );
    assert_eq!(
        wrong(|state| state.head.policy.utterances = Some(Marks::of(2))),
        ["its window has 3 utterances; its policy allows 2, and the unit of utterance 3 could leave"]
    );
    assert_eq!(
        wrong(|state| state.head.turn = 4),
        ["its head is in turn 4, but the newest utterance is in turn 5"]
    );
    assert_eq!(
        wrong(|state| state.head.window_tokens = 14),
        ["its head counts 14 tokens in the window, but there are 15"]
    );
    assert_eq!(wrong(|state| state.head.next_compaction = 2), ["compaction 1 is missing"]);
}

#[test]
fn an_utterance_that_is_missing_is_all_that_is_told() {
    let taken = |state: &mut Conversation| state.window.remove(&Ranges::of(Sequence(4), Sequence(4)));
    assert_eq!(wrong(taken), ["utterances are missing: 4"]);
    let erased = |state: &mut Conversation| {
        taken(state);
        (state.head.erased_at, state.head.stored) = (Revision(5), 4);
        state.head.window_tokens = 10;
    };
    assert_eq!(wrong(erased), [""; 0]);
}

#[test]
fn what_is_not_of_the_window_is_told() {
    assert_eq!(
        wrong(|state| state.window.push(utterance(9))),
        [
            "utterance 9 is stored, but the next sequence is 6",
            "its window counts [4, 20, 4] utterances, tokens and turns, but there are [3, 15, 3]",
        ]
    );
}
