//! What holds after any sequence of changes, with a real encoding.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::domain::{
    Role,
    extractive::tests::{o200k, said},
    limits::{DEFAULT_SUMMARY_TOKENS, MAX_SEGMENTS},
};

const WORDS: [&str; 12] = [
    "invoice",
    "INV-7",
    "decided",
    "Paris",
    "error",
    "tomorrow",
    "src/main.rs",
    "okay",
    "whales",
    "$250",
    "weather",
    "thanks",
];

const DEFAULT: Option<u32> = Some(DEFAULT_SUMMARY_TOKENS);

/// An utterance of three sentences that depend on its sequence only.
fn utterance(sequence: u64, forgotten: bool) -> Arc<Utterance> {
    let word = |n: u64| WORDS[(sequence * 7 + n * 5) as usize % WORDS.len()];
    let role = if sequence % 2 == 1 { Role::User } else { Role::Assistant };
    let content =
        format!("{} for {} number {sequence}. Then the {}! {}?", word(1), word(2), word(3), word(4));
    let mut utterance = said(sequence, role, &content);
    utterance.forgotten = forgotten;
    Arc::new(utterance)
}

fn utterances(sequences: impl IntoIterator<Item = u64>) -> Vec<Arc<Utterance>> {
    sequences.into_iter().map(|sequence| utterance(sequence, false)).collect()
}

fn set(ranges: &Ranges) -> BTreeSet<u64> {
    ranges.sequences().map(Sequence::get).collect()
}

fn tells(summary: &Summary) -> BTreeSet<u64> {
    let sentences = summary.segments().iter().flat_map(|segment| &segment.sentences);
    sentences.map(|sentence| sentence.sequence.get()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64),
    Erase(u64, u64),
    Silence(u64, u64),
    Restore(u64, u64),
    Fit(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..9u64).prop_map(Step::Write),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Erase(first, first + length)),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Silence(first, first + length)),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Restore(first, first + length)),
        1 => (0..400u32).prop_map(Step::Fit),
    ];
    prop::collection::vec(step, 0..30)
}

/// What was done, kept the simple way.
#[derive(Default)]
struct Model {
    written: u64,
    covered: BTreeSet<u64>,
    silent: BTreeSet<u64>,
}

impl Model {
    fn apply(&mut self, step: &Step, summary: &Summary, limit: &mut Option<u32>) -> Summary {
        let range = |first, last| Ranges::of(Sequence(first), Sequence(last));
        match *step {
            Step::Write(count) => {
                let sequences = self.written + 1..=self.written + count;
                self.written += count;
                self.covered.extend(sequences.clone());
                summary.write(&utterances(sequences), *limit, o200k())
            }
            Step::Erase(first, last) => {
                self.covered.retain(|sequence| !(first..=last).contains(sequence));
                summary.erase(&range(first, last))
            }
            Step::Silence(first, last) => {
                self.silent.extend((first..=last).filter(|sequence| self.covered.contains(sequence)));
                summary.silence(&range(first, last))
            }
            Step::Restore(first, last) => {
                let back: Vec<u64> =
                    (first..=last).filter(|sequence| self.covered.contains(sequence)).collect();
                self.silent.retain(|sequence| !back.contains(sequence));
                summary.restore(&utterances(back), *limit, o200k())
            }
            Step::Fit(smaller) => {
                *limit = Some(smaller);
                summary.fit(*limit)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_change_keeps_the_promises(steps in steps(), limit in 0..500u32) {
        let (mut model, mut summary, mut limit) = (Model::default(), Summary::default(), Some(limit));
        for step in steps {
            let before = summary.clone();
            summary = model.apply(&step, &before, &mut limit);

            prop_assert!(summary.tokens() <= limit.unwrap_or(0), "over the limit after {step:?}");
            prop_assert_eq!(summary.tokens(), o200k().count(&summary.text()));
            let numbers: BTreeSet<u32> = summary.segments().iter().map(|segment| segment.number).collect();
            prop_assert_eq!(numbers.len(), summary.segments().len());
            prop_assert!(numbers.iter().all(|number| (1..summary.next_number).contains(number)));

            prop_assert_eq!(set(&summary.covers()), model.covered.clone());
            let counts: u64 = summary.segments().iter().map(|segment| segment.covers.count()).sum();
            prop_assert_eq!((counts, summary.covered_count()), (model.covered.len() as u64, counts), "covered twice");
            let told = tells(&summary);
            prop_assert!(told.is_subset(&model.covered), "an erased sentence after {step:?}");
            prop_assert!(told.is_disjoint(&model.silent), "a silenced sentence after {step:?}");
            for segment in summary.segments() {
                prop_assert_eq!(segment.tokens, o200k().count(&segment.text()));
                prop_assert!(segment.sentences.iter().all(|sentence| segment.covers.contains(sentence.sequence)));
                prop_assert!(segment.sentences.windows(2).all(|pair| pair[0].sequence <= pair[1].sequence));
                prop_assert!(!segment.covers.is_empty());
            }

            prop_assert_eq!(Summary::numbered(summary.segments().iter().rev().cloned().collect(), summary.next_number()), summary.clone());
            let changes = summary.changed_from(&before);
            let mut stored: Vec<_> = before.segments().to_vec();
            stored.retain(|segment| !changes.removed.contains(&segment.number));
            stored.extend(changes.written);
            stored.sort_by_key(|segment| segment.number);
            let mut expected = summary.segments().to_vec();
            expected.sort_by_key(|segment| segment.number);
            prop_assert_eq!(stored, expected);
        }
    }

    #[test]
    fn the_same_steps_give_the_same_summary(steps in steps()) {
        let run = || {
            let (mut model, mut limit) = (Model::default(), Some(200));
            steps.iter().fold(Summary::default(), |summary, step| model.apply(step, &summary, &mut limit))
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_segment_keeps_to_its_share_of_the_source() {
    let evicted = utterances(1..=40);
    let source: u64 = evicted.iter().map(|utterance| u64::from(utterance.tokens)).sum();
    let summary = Summary::default().write(&evicted, DEFAULT, o200k());
    let segment = &summary.segments()[0];
    assert_eq!((segment.number, segment.level, segment.source_tokens), (1, 0, source));
    assert!(
        u64::from(segment.tokens) * 100 <= source * 30 && segment.tokens > 40,
        "{} of {source}",
        segment.tokens
    );
}

#[test]
fn an_unchanged_summary_is_the_same_one() {
    let summary = Summary::default().write(&utterances(1..=9), DEFAULT, o200k());
    let elsewhere = Ranges::of(Sequence(50), Sequence(60));
    for same in [
        summary.erase(&elsewhere),
        summary.silence(&elsewhere),
        summary.fit(DEFAULT),
        summary.write(&[], DEFAULT, o200k()),
        summary.restore(&utterances(50..52), DEFAULT, o200k()),
    ] {
        assert!(Arc::ptr_eq(&same.segments, &summary.segments) && same.changed_from(&summary).is_empty());
    }
}

#[test]
fn silenced_sentences_come_back() {
    let before = Summary::default().write(&utterances(1..=3), DEFAULT, o200k());
    let silent = before.silence(&Ranges::of(Sequence(1), Sequence(3)));
    assert_eq!((silent.text().as_str(), silent.covered_count()), ("", 3));
    let after = silent.restore(&utterances(1..=3), DEFAULT, o200k());
    assert_eq!(after.text(), before.text());
    assert_eq!(after.changed_from(&before).removed, [1]);
}

#[test]
fn what_was_forgotten_at_the_time_comes_back_too() {
    let evicted = [utterance(1, true), utterance(2, true)];
    let summary = Summary::default().write(&evicted, DEFAULT, o200k());
    assert_eq!((summary.tokens(), summary.segments()[0].source_tokens), (0, 0));
    assert!(tells(&summary.restore(&utterances([2]), DEFAULT, o200k())).contains(&2));
}

#[test]
fn folds_leave_room_and_levels_grow_slowly() {
    let (mut summary, mut folds) = (Summary::default(), 0);
    for at in 0..400 {
        let before = summary.clone();
        summary = summary.write(&utterances(at * 5 + 1..=at * 5 + 5), DEFAULT, o200k());
        let removed = summary.changed_from(&before).removed;
        if !removed.is_empty() {
            folds += 1;
            assert!((400..=750).contains(&summary.tokens()), "{} tokens after a fold", summary.tokens());
        }
    }
    assert!(folds < 100, "{folds} folds in 400 writes");
    let levels: Vec<u32> = summary.segments().iter().map(|segment| segment.level).collect();
    assert!(levels[0] < 16 && levels.len() < 40, "{levels:?}");
    assert_eq!(summary.covered_count(), 2000);
}

#[test]
fn without_a_limit_old_segments_merge_and_lose_nothing() {
    let mut summary = Summary::default();
    let mut told = BTreeSet::new();
    for at in 0..300 {
        summary = summary.write(&utterances([at + 1]), None, o200k());
        told.extend(tells(&summary).into_iter().filter(|sequence| *sequence == at + 1));
    }
    assert!(summary.segments().len() <= MAX_SEGMENTS);
    assert_eq!(tells(&summary), told);
    assert_eq!(summary.tokens(), o200k().count(&summary.text()));
}
