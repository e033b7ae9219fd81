//! What holds for every compaction, in random conversations.

use proptest::prelude::*;

use super::{super::Extent, life::*};
use crate::{Policy, policy::PolicyUpdate};

#[derive(Clone, Debug)]
enum Step {
    Say(u64),
    Call(usize, usize),
    Compact(u32),
    CompactOldest(u32),
    Undo,
    Forget(u64, u64, bool),
    ForgetAbout(u64),
    Restore(u64),
    Edit(u64),
    ReplaceByLlm(usize),
    Narrow(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (1..45u64).prop_map(Step::Say),
        1 => (1..4usize, 0..4usize).prop_map(|(calls, answers)| Step::Call(calls, answers)),
        4 => (1..30u32).prop_map(Step::Compact),
        2 => (1..30u32).prop_map(Step::CompactOldest),
        3 => Just(Step::Undo),
        2 => (1..120u64, 0..6u64, any::<bool>()).prop_map(|(first, more, hard)| Step::Forget(first, first + more, hard)),
        1 => (1..120u64).prop_map(Step::ForgetAbout),
        1 => (1..120u64).prop_map(Step::Restore),
        1 => (1..120u64).prop_map(Step::Edit),
        4 => (0..9usize).prop_map(Step::ReplaceByLlm),
        1 => (0..80u32).prop_map(Step::Narrow),
    ];
    prop::collection::vec(step, 1..24)
}

fn policies() -> impl Strategy<Value = Policy> {
    let archive = prop_oneof![4 => Just(10_000u32), 1 => 0..60u32];
    let limit = prop_oneof![3 => Just(Some(1_000u32)), 1 => (60..400u32).prop_map(Some), 1 => Just(None)];
    let base = prop_oneof![4 => Just(Policy::SESSION), 1 => Just(Policy::TURNS), 1 => Just(Policy::ROLLING)];
    (base, archive, limit).prop_map(|(base, archive_limit, summary_token_limit)| Policy {
        archive_limit,
        summary_token_limit,
        ..base
    })
}

fn apply(life: &mut Life, step: &Step) {
    match *step {
        Step::Say(count) => life.talk(count),
        Step::Call(calls, answers) => life.call_tools(calls, answers),
        Step::Compact(keep_recent) => drop(life.compact(keep_recent)),
        Step::CompactOldest(count) => drop(life.compact_by(Extent::Oldest(count), true)),
        Step::Undo => drop(life.undo()),
        Step::Forget(first, last, hard) => drop(life.forget_all(&format!("sequence:{first}-{last}"), hard)),
        Step::ForgetAbout(sequence) => drop(life.forget_all(&format!("about:{}", mark(sequence)), true)),
        Step::Restore(sequence) => life.restore(sequence),
        Step::Edit(sequence) => life.edit(sequence),
        Step::ReplaceByLlm(which) => life.replace_by_llm(which),
        Step::Narrow(max) => {
            life.limit(PolicyUpdate { max_utterances: Some(max), ..PolicyUpdate::default() })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_is_lost_and_nothing_comes_back(policy in policies(), steps in steps()) {
        let mut life = with_model(policy);
        for step in &steps {
            apply(&mut life, step);
            life.check()?;
        }
    }

    #[test]
    fn an_undo_brings_back_what_was(policy in policies(), steps in steps(), keep in 1..25u32, later in 0..5u64) {
        let mut life = with_model(policy);
        steps.iter().for_each(|step| apply(&mut life, step));
        let before = life.state.clone();
        prop_assume!(matches!(life.compact(keep), Ok(Some(_))));
        let fits = life.state.head.archived.holds(&life.state.compactions.last().unwrap().compacted);
        let rolls = life.state.head.policy.utterances.is_some() || life.state.head.policy.turns.is_some();
        if !rolls { life.talk(later); }
        match life.undo() {
            Err(refusal) => prop_assert!(!fits, "{refusal}"),
            Ok(_) => {
                let said = life.state.window.len() - before.window.len();
                prop_assert!(life.state.window.iter().take(before.window.len()).eq(before.window.iter()));
                prop_assert_eq!(said as u64, if rolls { 0 } else { later });
                prop_assert_eq!(life.state.summary.text(), before.summary.text());
                prop_assert_eq!(life.state.summary.covers(), before.summary.covers());
            }
        }
        life.check()?;
    }
}
