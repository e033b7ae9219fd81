//! What a compaction moves, what it refuses, what an undo restores, and when compacting is advised.

use super::{super::*, life::*};
use crate::{
    Loaded, Marks, Policy, Ranges, Reason, Result, Role, Sequence, Timestamp,
    change::Context,
    policy::PolicyUpdate,
    segment::{Imported, ImportedSummary},
    testing::o200k,
};

fn reason<T>(result: Result<T>) -> Reason {
    result.err().map(|refusal| refusal.reason()).unwrap()
}

#[test]
fn all_but_the_last_utterances_become_summary() {
    let mut life = with_model(Policy::SESSION);
    life.say(vec![said(Role::System, "Be brief.")]);
    life.talk(52);
    let made = life.compact(15).unwrap().unwrap();
    let window: Vec<u64> = life.state.window.iter().map(|utterance| utterance.sequence.get()).collect();
    assert_eq!(window, [1].into_iter().chain(39..=53).collect::<Vec<_>>());
    assert_eq!((made.count, made.kept, made.number), (37, 16, 1));
    assert_eq!(made.compacted, Ranges::of(Sequence(2), Sequence(38)));
    assert!(made.tokens_after < made.tokens_before && made.ratio() > 0.3, "{}", made.ratio());
    assert_eq!(life.state.head.archived.count(), 37);
}

/// Seed 004: 70 % less.
#[test]
fn a_summary_has_at_most_thirty_percent_of_what_it_covers() {
    for count in [30, 52, 100, 250] {
        let mut life = with_model(Policy::SESSION);
        life.talk(count);
        let made = life.compact(15).unwrap().unwrap();
        let (told, source) = (u64::from(life.state.summary.tokens()), made.source_tokens);
        assert!(told > 0 && told <= (source * 30 / 100).max(40), "{count}: {told} of {source}");
    }
}

#[test]
fn an_exchange_at_the_cut_stays_whole() {
    let mut life = with_model(Policy::SESSION);
    life.talk(30);
    life.call_tools(3, 3);
    life.talk(2);
    let made = life.compact(4).unwrap().unwrap();
    assert_eq!(made.compacted.last(), Some(Sequence(30)));
    assert_eq!(life.state.window.len(), 6);
}

#[test]
fn what_cannot_be_compacted_is_refused_with_its_reason() {
    let mut life = with_model(Policy::SESSION);
    life.talk(29);
    assert_eq!(reason(life.compact(15)), Reason::TooShortToCompact);
    life.talk(1);
    assert_eq!(reason(life.compact_by(Extent::Oldest(30), true)), Reason::NothingToCompact);
    assert_eq!(reason(life.undo()), Reason::NothingToUndo);
    life.limit(PolicyUpdate { summarization_enabled: Some(false), ..PolicyUpdate::default() });
    assert_eq!(reason(life.compact(15)), Reason::SummariesDisabled);
}

#[test]
fn a_window_with_only_what_stays_has_nothing_to_compact() {
    let mut life = with_model(Policy::SESSION);
    life.talk(30);
    let before = life.state.clone();
    assert_eq!(life.compact(30), Ok(None));
    assert_eq!(life.state, before);
}

/// A rolling window never holds 30, but the conversation stores more.
#[test]
fn a_rolling_window_is_folded_down_to_its_last_utterances() {
    let mut life = with_model(Policy::ROLLING);
    life.talk(29);
    assert_eq!(reason(life.compact(15)), Reason::TooShortToCompact);
    life.talk(31);
    assert_eq!((life.state.window.len(), life.state.uncompacted()), (20, 60));
    let made = life.compact(15).unwrap().unwrap();
    assert_eq!((made.compacted.clone(), made.kept), (Ranges::of(Sequence(41), Sequence(45)), 15));
    assert_eq!(life.state.summary.covers().count(), 45, "all that is behind the window");
    assert_eq!(life.state.uncompacted(), 55, "what the compaction took no longer counts");
    assert_eq!(life.compact(15), Ok(None));
    life.undo().unwrap();
    assert_eq!((life.state.window.len(), life.state.uncompacted()), (20, 60));
    life.check().unwrap();
}

/// Utterances that a compaction took do not make the rest long enough to compact.
#[test]
fn what_compactions_took_does_not_count() {
    let mut life = with_model(Policy { turns: Some(Marks::of(10)), ..Policy::TURNS });
    life.talk(60);
    assert!(!life.state.compactions.is_empty() && life.state.uncompacted() < 30);
    assert_eq!(reason(life.compact(2)), Reason::TooShortToCompact);
}

#[test]
fn the_last_compactions_are_undone_one_by_one() {
    let mut life = with_model(Policy::SESSION);
    let mut texts = Vec::new();
    for _ in 0..12 {
        life.talk(40);
        texts.push((life.state.summary.text(), life.state.window.len()));
        life.compact(15).unwrap();
    }
    for (text, length) in texts.iter().rev().take(10) {
        let said_since = life.state.window.len() - 15;
        life.undo().unwrap();
        assert_eq!(&life.state.summary.text(), text);
        assert_eq!(life.state.window.len(), length + said_since);
    }
    assert_eq!(reason(life.undo()), Reason::NothingToUndo, "only the last ten can be");
}

#[test]
fn advice_comes_at_fifty_and_every_ten_more_until_it_is_answered() {
    let mut life = with_model(Policy::SESSION);
    let advice = |life: &Life| Advice::of(&life.state).map(|advice| advice.threshold);
    life.talk(49);
    assert_eq!(advice(&life), None);
    life.talk(1);
    assert_eq!(advice(&life), Some(50));
    life.talk(3);
    assert_eq!(advice(&life), Some(50), "it stands until it is answered");
    let answered =
        life.decide(|before, context| Ok(answer(before, &Answer { expected: None }, context)?)).unwrap();
    life.apply(answered.unwrap());
    assert_eq!(advice(&life), None);
    life.talk(6);
    assert_eq!(advice(&life), None);
    life.call_tools(1, 0);
    assert_eq!(advice(&life), None, "an exchange is open");
    life.talk(1);
    assert_eq!(advice(&life), Some(60));
    life.compact(45).unwrap();
    assert_eq!(advice(&life), None);
    life.talk(9);
    assert_eq!((advice(&life), life.state.window.len()), (None, 54), "fewer than twenty were said since");
    life.talk(11);
    assert_eq!(advice(&life), Some(60));
}

#[test]
fn an_answer_holds_until_the_window_falls_below() {
    let mut life = with_model(Policy::SESSION);
    life.talk(50);
    let answered =
        life.decide(|before, context| Ok(answer(before, &Answer { expected: None }, context)?)).unwrap();
    life.apply(answered.unwrap());
    life.forget_all("last:5", true);
    life.talk(5);
    assert!(Advice::of(&life.state).is_some(), "it was crossed again");
}

#[test]
fn what_the_turns_or_a_narrower_policy_evict_is_a_compaction() {
    let mut life = with_model(Policy { turns: Some(Marks::of(10)), ..Policy::TURNS });
    life.talk(22);
    assert_eq!(life.state.compactions.len(), 1);
    life.limit(PolicyUpdate { max_utterances: Some(6), ..PolicyUpdate::default() });
    let causes: Vec<Cause> = life.state.compactions.iter().map(|made| made.cause).collect();
    assert_eq!(causes, [Cause::Policy; 2]);
    let mut rolling = with_model(Policy::ROLLING);
    rolling.talk(60);
    assert_eq!(rolling.state.compactions.len(), 0, "rolling is not a compaction");
}

#[test]
fn a_models_text_is_dropped_when_something_was_forgotten_meanwhile() {
    let ask = |life: &mut Life| life.ask_model(0).unwrap();
    for hard in [true, false] {
        let mut life = with_model(Policy::SESSION);
        life.talk(60);
        life.compact(15).unwrap();
        let asked = ask(&mut life);
        life.talk(1);
        life.forget_all("sequence:7", hard);
        let told = life.decide(|before, context| Ok(replace_by_llm(before, &asked, context))).unwrap();
        assert!(told.is_none(), "hard: {hard}");
        life.replace_by_llm(0);
        life.check().unwrap();
        assert_eq!(life.state.summary.provisional(), 0);
        assert_eq!(life.state.compactions[0].model.as_deref(), Some("model"));
    }
}

#[test]
fn a_compactions_figures_follow_what_stands() {
    let mut life = with_model(Policy::SESSION);
    let figures = |life: &Life| {
        let made = &life.state.compactions[0];
        assert_eq!(made.tokens_after, life.state.window.tokens() + u64::from(life.state.summary.tokens()));
        (made.tokens_after, made.model.clone())
    };
    life.talk(60);
    let asked = life.compact(15).unwrap().unwrap();
    assert_eq!(asked.keep_recent, Some(15));
    let (extracted, _) = figures(&life);
    life.replace_by_llm(0);
    let (told, model) = figures(&life);
    assert!(told < extracted && model.is_some(), "{told} of {extracted}");
    life.forget_all("sequence:7", true);
    assert_eq!(figures(&life).1, None, "the model's text is gone");
    life.replace_by_llm(0);
    let (told, model) = figures(&life);
    assert!(told < extracted && model.is_some());
    life.talk(1);
    assert_eq!(life.state.compactions[0].tokens_after, told, "what is said later does not count");
}

#[test]
fn what_was_imported_outlives_a_compaction_and_its_undo() {
    let mut life = with_model(Policy { summary_token_limit: Some(200), ..Policy::SESSION });
    let of = Imported { start: Timestamp(1), end: Timestamp(2), conversations: 3 };
    let periods: Vec<_> =
        (0..20).map(|n| ImportedSummary { of, text: format!("They chose plan {n}.").into() }).collect();
    let loaded = Loaded::new();
    let with = Context { now: Timestamp(0), counter: o200k(), loaded: &loaded, llm: false }
        .summary_context(&life.state.head.policy);
    life.state.summary = life.state.summary.import(&periods, &with);
    life.talk(60);
    for _ in 0..2 {
        life.compact(15).unwrap();
        life.check().unwrap();
        assert!(!life.state.summary.imported().is_empty());
        life.undo().unwrap();
        life.check().unwrap();
        assert!(!life.state.summary.imported().is_empty());
        assert!(life.state.summary.covers().is_empty());
    }
}
