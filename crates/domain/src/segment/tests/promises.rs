//! What holds after any sequence of changes.

use proptest::prelude::*;

use super::*;

/// All texts by models in a summary, shown or kept for the next model.
fn texts_of_models(summary: &Summary) -> String {
    let texts = |segment: &Arc<Segment>| {
        let llm_text = segment.llm_text.as_ref().map(|_| segment.text()).unwrap_or_default();
        llm_text + segment.awaits.as_ref().map(|awaits| &*awaits.told).unwrap_or_default()
    };
    summary.segments().iter().map(texts).collect()
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

/// A simple model of what was done.
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
                    .map_or(summary.clone(), |number| summary.settle(Some(*number)))
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
            prop_assert!(told.is_subset(&model.covered), "something erased is told after {step:?}");
            prop_assert!(told.is_disjoint(&model.silent), "something silenced is told after {step:?}");
            let texts = texts_of_models(&summary);
            for gone in (1..=model.written).filter(|sequence| !model.covered.contains(sequence)) {
                prop_assert!(!texts.contains(&format!("<{gone}>")), "{gone} after {step:?}");
            }
            for silent in &model.silent {
                prop_assert!(!texts.contains(&format!("<{silent}>")), "{silent} after {step:?}");
            }
            for segment in summary.segments() {
                prop_assert_eq!(segment.tokens, o200k().count(&segment.text()));
                prop_assert!(segment.covers.holds(&segment.known()));
                prop_assert!(segment.known().holds(&segment.own_told()));
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
