//! What holds after any sequence of changes, with a real encoding.

use std::{collections::BTreeSet, sync::Arc};

use proptest::prelude::*;

use super::*;
use crate::domain::{
    Ranges, Role, Sequence, Timestamp, TokenCounter, Utterance,
    extractive::{
        LineKind, Sentence,
        tests::{o200k, said},
    },
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

/// With a model that is awaited.
fn summary_context(limit: Option<u32>) -> SummaryContext<'static> {
    SummaryContext { limit, counter: o200k(), window: None, compacts: false, awaits: Some(Timestamp(1)) }
}

/// A model, which was shown the summary up to a segment, names every sequence that it was shown.
fn told_by_model(
    summary: &Summary,
    segment: &Segment,
    silent: &BTreeSet<u64>,
    with: &SummaryContext<'_>,
) -> Summary {
    let shown = summary.segments().iter().take_while(|other| other.number != segment.number);
    let mut from = segment.covers.clone();
    shown.for_each(|shown| from.union(&shown.covers));
    let told = from.sequences().filter(|sequence| !silent.contains(&sequence.get()));
    let text: String = told.map(|sequence| format!("<{sequence}>")).collect();
    // a text that says nothing is not accepted
    if text.is_empty() {
        return summary.clone();
    }
    let (text, sequence) = (format!("{text}\n"), Sequence::FIRST);
    let tokens = o200k().count(&text);
    let lines = vec![Sentence::plain(LineKind::Said, sequence, text.into(), 1, tokens)];
    let llm_text = LlmText { lines, model: "model".into(), prompt: 1, from };
    summary.replace_by_llm(segment.number, &llm_text, with)
}

/// All text of models that a summary holds, shown or kept for another one.
fn texts_of_models(summary: &Summary) -> String {
    let texts = |segment: &Arc<Segment>| {
        let llm_text = segment.llm_text.as_ref().map(|_| segment.text()).unwrap_or_default();
        llm_text + segment.awaits.as_ref().map(|awaits| &*awaits.told).unwrap_or_default()
    };
    summary.segments().iter().map(texts).collect()
}

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
    sentences.flat_map(Sentence::sequences).map(|sequence| sequence.get()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64),
    Erase(u64, u64),
    Silence(u64, u64),
    Restore(u64, u64),
    Fit(u32),
    ReplaceByLlm(usize),
    Settle(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..9u64).prop_map(Step::Write),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Erase(first, first + length)),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Silence(first, first + length)),
        1 => (1..60u64, 0..9u64).prop_map(|(first, length)| Step::Restore(first, first + length)),
        1 => (0..400u32).prop_map(Step::Fit),
        3 => (0..9usize).prop_map(Step::ReplaceByLlm),
        1 => (0..90usize).prop_map(Step::Settle),
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
                summary.write(&utterances(sequences), &[], &summary_context(*limit))
            }
            Step::Erase(first, last) => {
                self.covered.retain(|sequence| !(first..=last).contains(sequence));
                summary.erase(&range(first, last), &summary_context(*limit))
            }
            Step::Silence(first, last) => {
                self.silent.extend((first..=last).filter(|sequence| self.covered.contains(sequence)));
                summary.silence(&range(first, last), &summary_context(*limit))
            }
            Step::Restore(first, last) => {
                let back: Vec<u64> =
                    (first..=last).filter(|sequence| self.covered.contains(sequence)).collect();
                self.silent.retain(|sequence| !back.contains(sequence));
                summary.restore(&utterances(back), &summary_context(*limit))
            }
            Step::Fit(smaller) => {
                *limit = Some(smaller);
                summary.fit(&summary_context(*limit))
            }
            Step::ReplaceByLlm(which) => {
                let waiting = summary.segments().iter().filter(|segment| segment.awaits.is_some());
                let waiting: Vec<_> = waiting.collect();
                let Some(segment) = waiting.get(which % waiting.len().max(1)) else { return summary.clone() };
                told_by_model(summary, segment, &self.silent, &summary_context(*limit))
            }
            Step::Settle(which) => {
                let numbers = summary.numbers();
                numbers
                    .get(which % numbers.len().max(1))
                    .map_or(summary.clone(), |number| summary.settle(*number))
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
            prop_assert!(numbers.iter().all(|number| (1..summary.next_number()).contains(number)));

            prop_assert_eq!(set(&summary.covers()), model.covered.clone());
            let counts: u64 = summary.segments().iter().map(|segment| segment.covers.count()).sum();
            prop_assert_eq!((counts, summary.covered_count()), (model.covered.len() as u64, counts), "covered twice");
            let told = tells(&summary);
            prop_assert!(told.is_subset(&model.covered), "an erased sentence after {step:?}");
            prop_assert!(told.is_disjoint(&model.silent), "a silenced sentence after {step:?}");
            let texts = texts_of_models(&summary);
            for gone in (1..=model.written).filter(|sequence| !model.covered.contains(sequence)) {
                prop_assert!(!texts.contains(&format!("<{gone}>")), "{gone} after {step:?}");
            }
            for silent in &model.silent {
                prop_assert!(!texts.contains(&format!("<{silent}>")), "{silent} after {step:?}");
            }
            for segment in summary.segments() {
                prop_assert_eq!(segment.tokens, o200k().count(&segment.text()));
                let mut told = segment.sentences.iter().flat_map(Sentence::sequences);
                prop_assert!(told.all(|sequence| segment.covers.contains(sequence)));
                prop_assert!(segment.sentences.is_sorted_by_key(|line| line.kind));
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
    let summary = Summary::default().write(&evicted, &[], &summary_context(DEFAULT));
    let segment = &summary.segments()[0];
    assert_eq!((segment.number, segment.level, segment.source_tokens), (1, 0, source));
    assert!(
        u64::from(segment.tokens) * 100 <= source * 50 && segment.tokens > 40,
        "{} of {source}",
        segment.tokens
    );
}

#[test]
fn an_unchanged_summary_is_the_same_one() {
    let summary = Summary::default().write(&utterances(1..=9), &[], &summary_context(DEFAULT));
    let elsewhere = Ranges::of(Sequence(50), Sequence(60));
    for same in [
        summary.erase(&elsewhere, &summary_context(DEFAULT)),
        summary.silence(&elsewhere, &summary_context(DEFAULT)),
        summary.fit(&summary_context(DEFAULT)),
        summary.write(&[], &[], &summary_context(DEFAULT)),
        summary.restore(&utterances(50..52), &summary_context(DEFAULT)),
    ] {
        assert!(std::ptr::eq(same.segments(), summary.segments()) && same.changed_from(&summary).is_empty());
    }
}

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

#[test]
fn folds_leave_room_and_levels_grow_slowly() {
    let (mut summary, mut folds) = (Summary::default(), 0);
    for at in 0..400 {
        let before = summary.clone();
        summary = summary.write(&utterances(at * 5 + 1..=at * 5 + 5), &[], &summary_context(DEFAULT));
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
        summary = summary.write(&utterances([at + 1]), &[], &summary_context(None));
        told.extend(tells(&summary).into_iter().filter(|sequence| *sequence == at + 1));
    }
    assert!(summary.segments().len() <= MAX_SEGMENTS);
    assert_eq!(tells(&summary), told);
    assert_eq!(summary.tokens(), o200k().count(&summary.text()));
}

#[test]
fn a_models_text_is_accepted_line_by_line() {
    let summary = Summary::default().write(&utterances(1..=40), &[], &summary_context(DEFAULT));
    let segment = &summary.segments()[0];
    let lines = segment
        .accept("  INV-7:\r\n\n\t- a bug in \u{7}src/main.rs  \n/etc is read-only\n", o200k())
        .unwrap();
    let text: String = lines.iter().map(|line| &*line.text).collect();
    assert_eq!(text, "INV-7:\n- a bug in  src/main.rs\n- /etc is read-only\n");
    assert_eq!(lines.iter().map(|line| line.tokens).sum::<u32>(), o200k().count(&text));
    assert_eq!(segment.accept(" \n\u{0}\n", o200k()), Err(Unfit::Empty));
    let long = "- invoice INV-7\n".repeat(400);
    assert!(
        matches!(segment.accept(&long, o200k()), Err(Unfit::TooLong { most, .. }) if most == segment.room())
    );
}

#[test]
fn what_models_told_is_kept_for_the_one_that_tells_a_fold() {
    let with = summary_context(Some(150));
    let mut summary = Summary::default();
    for at in 0..12 {
        summary = summary.write(&utterances(at * 5 + 1..=at * 5 + 5), &[], &with);
        let newest = summary.segments().last().unwrap().clone();
        if newest.awaits.is_some() {
            summary = told_by_model(&summary, &newest, &BTreeSet::new(), &with);
        }
    }
    let oldest = &summary.segments()[0];
    let awaits = oldest.awaits.as_ref().expect("a fold awaits a model");
    assert!(oldest.level > 0 && awaits.told.contains("<1>"), "{oldest:?}");
    assert!(awaits.from.holds(&oldest.covers));
}

#[test]
fn a_model_is_not_awaited_for_what_is_as_short_as_a_summary() {
    let short = said(1, Role::User, "the invoice is INV-7");
    let summary = Summary::default().write(&[Arc::new(short)], &[], &summary_context(DEFAULT));
    assert_eq!((summary.provisional(), summary.awaits_since()), (0, None));
    let summary = summary.write(&utterances(2..=9), &[], &summary_context(DEFAULT));
    assert_eq!((summary.provisional(), summary.awaits_since()), (1, Some(Timestamp(1))));
}

#[test]
fn long_conversations_are_covered_at_rising_levels() {
    for (count, least_level) in [(50, 0), (200, 1), (1_000, 3), (10_000, 5)] {
        let mut summary = Summary::default();
        for first in (1..=count).step_by(25) {
            summary =
                summary.write(&utterances(first..=(first + 24).min(count)), &[], &summary_context(DEFAULT));
        }
        let mut seen = BTreeSet::new();
        for segment in summary.segments() {
            assert!(segment.covers.sequences().all(|sequence| seen.insert(sequence)), "covered twice");
        }
        assert_eq!(seen.len() as u64, count);
        assert!(summary.segments()[0].level >= least_level, "{count}: {}", summary.segments()[0].level);
        assert!(summary.tokens() <= DEFAULT_SUMMARY_TOKENS);
    }
}

fn period(start: i64, text: &str) -> ImportedSummary {
    let of = Imported { start: Timestamp(start), end: Timestamp(start + 1), conversations: 2 };
    ImportedSummary { of, text: text.into() }
}

#[test]
fn what_was_imported_stands_first_and_covers_nothing() {
    let with = summary_context(DEFAULT);
    let before = Summary::default().write(&utterances(1..=9), &[], &with);
    let periods = [period(20, "They met in Oslo. Anna paid $250."), period(10, "It began.")];
    let summary = before.import(&periods, &with);
    assert_eq!(summary.covers(), before.covers());
    let imported: Vec<_> = summary.segments()[..2].iter().map(|segment| segment.text()).collect();
    assert_eq!(imported, ["It began.\n", "They met in Oslo.\nAnna paid $250.\n"]);
    assert!(
        summary.segments()[..2].iter().all(|segment| segment.covers.is_empty() && segment.awaits.is_none())
    );
    assert_eq!(before.import(&[period(1, " \n")], &with), before, "one that says nothing is none");
}

/// Imported segments are folded with one another, and go when nothing else helps.
#[test]
fn what_was_imported_keeps_to_the_limit_beside_what_was_said() {
    let with = summary_context(Some(300));
    let texts: Vec<String> =
        (0..30).map(|n| format!("In week {n} they decided on INV-{n}. It cost ${n}50.")).collect();
    let periods: Vec<_> = texts.iter().zip(0..).map(|(text, n)| period(n, text)).collect();
    let mut summary = Summary::default().import(&periods, &with);
    assert!(summary.has_imported() && summary.tokens() <= 300, "{}", summary.tokens());
    let folded = summary.segments()[0].imported.unwrap();
    assert_eq!(folded.start, Timestamp(0));
    assert!(folded.conversations > 2, "it tells of what was folded into it");
    for start in (0..300).step_by(5) {
        summary = summary.write(&utterances(start + 1..=start + 5), &[], &with);
        assert!(summary.tokens() <= 300);
        assert_eq!(summary.covered_count(), start + 5);
        assert!(summary.segments().is_sorted_by_key(|segment| segment.imported.is_none()));
        for segment in summary.segments() {
            assert!(segment.stands() && (segment.imported.is_none() || segment.covers.is_empty()));
        }
    }
}

#[test]
fn an_imported_sentence_can_be_erased() {
    let with = summary_context(DEFAULT);
    let periods =
        [period(1, "The code is zanzibar. They met in Oslo."), period(2, "Zanzibar it is: zanzibar.")];
    let summary = Summary::default().import(&periods, &with);
    let rest = summary.erase_imported(|text| text.to_lowercase().contains("zanzibar"));
    assert_eq!((rest.text().as_str(), rest.segments().len()), ("They met in Oslo.\n", 1));
    assert_eq!(rest.segments()[0].imported, Some(periods[0].of));
    assert!(rest.erase_imported(|_| true).segments().is_empty());
}
