//! Forgetting, and restoring.

use super::*;

#[test]
fn silenced_sentences_come_back() {
    let before = Summary::default().write(&utterances(1..=3), &[], &summary_context(DEFAULT));
    let silent = before.silence(&Ranges::of(Sequence(1), Sequence(3)), &summary_context(DEFAULT));
    assert_eq!((silent.text().as_str(), silent.covered_count()), ("", 3));
    let after = silent.restore(&utterances(1..=3), &summary_context(DEFAULT));
    assert_eq!(after.text(), before.text());
    assert_eq!(after.changed_from(&before).removed, [1]);
}

#[test]
fn behind_a_models_text_stand_the_sentences_of_what_is_not_forgotten() {
    let with = summary_context(DEFAULT);
    let (written, gone) =
        (Summary::default().write(&utterances(1..=4), &[], &with), Ranges::of(Sequence(3), Sequence(4)));
    let told = told_by_model(&written, &written.segments()[0].clone(), &BTreeSet::new(), &with);
    assert_eq!(set(&told.told()), BTreeSet::from([1, 2, 3, 4]));
    let silent = told.silence(&gone, &with);
    assert!(!silent.told().is_empty() && !silent.told().meets(&gone));
    assert_eq!(silent.text(), written.silence(&gone, &with).text());
}

#[test]
fn what_was_forgotten_at_the_time_comes_back_too() {
    let evicted = [utterance(1, true), utterance(2, true)];
    let summary = Summary::default().write(&evicted, &[], &summary_context(DEFAULT));
    assert_eq!((summary.tokens(), summary.segments()[0].source_tokens), (0, 0));
    assert!(tells(&summary.restore(&utterances([2]), &summary_context(DEFAULT))).contains(&2));
}
