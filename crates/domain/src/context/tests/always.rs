//! What holds for every context.

use proptest::prelude::*;

use super::{super::*, talk::*};
use crate::testing::{Talk, needed, o200k, requests, steps};
use crate::{Marks, Policy, Ranges, Role, Sequence, TokenCounter};

/// Recalled utterances are in whole units, and not in the context a second time.
fn check_recalled(talk: &Talk, context: &Context) -> Result<(), TestCaseError> {
    let rendered: Ranges = sequences(context).into_iter().map(Sequence).collect();
    let recalled: Ranges = context.recalled.iter().map(|found| found.utterance.sequence).collect();
    prop_assert_eq!(recalled.count(), context.recalled.len() as u64, "nothing twice");
    prop_assert!(!recalled.meets(&rendered), "{:?} {:?}", recalled, rendered);
    for found in &context.recalled {
        let mut unit = talk.said().filter(|said| said.unit == found.utterance.unit && said.is_live());
        prop_assert!(unit.all(|said| recalled.contains(said.sequence)), "{:?}", recalled);
    }
    Ok(())
}

/// Results directly follow their calls, one for each, in the order of the calls.
fn check_exchanges(context: &Context) -> Result<(), TestCaseError> {
    let mut open = 0..0;
    for message in &context.messages {
        if message.role == Role::Tool {
            prop_assert_eq!(open.next(), Some(message.answers));
            continue;
        }
        prop_assert!(open.is_empty(), "{:?}", told(context));
        if context.format != Format::Text {
            open = 0..message.tool_calls().len();
        }
    }
    prop_assert!(open.is_empty());
    Ok(())
}

/// The first message behind instructions and summary is a user's; for Anthropic, what the system says in the middle
/// is one.
fn check_opening(context: &Context) -> Result<(), TestCaseError> {
    let of_system = |message: &&Message| context.format == Format::OpenAiChat && message.role == Role::System;
    let first = context.messages[context.head..].iter().find(|message| !of_system(message));
    let opens = first.is_none_or(|first| !matches!(first.role, Role::Assistant | Role::Tool));
    prop_assert!(opens || context.format == Format::Text, "{:?}", told(context));
    Ok(())
}

/// Everything said is either rendered or left out for a reason, never both.
pub(super) fn check_account(talk: &Talk, context: &Context) -> Result<(), TestCaseError> {
    let mut rendered: Ranges = sequences(context).into_iter().map(Sequence).collect();
    prop_assert_eq!(rendered.count(), sequences(context).len() as u64, "nothing twice");
    context.recalled.iter().for_each(|found| rendered.add(found.utterance.sequence));
    let mut all = rendered.clone();
    let mut count = rendered.count();
    for (_, ranges) in &context.omitted {
        all.union(ranges);
        count += ranges.count();
    }
    prop_assert_eq!(count, all.count(), "{:?} {:?}", rendered, &context.omitted);
    prop_assert_eq!(all.count(), talk.0.head.next.get() - 1, "{:?} {:?}", rendered, &context.omitted);
    Ok(())
}

/// A pinned unit has its own share while it is the newest. Later it uses the share of the pinned units, and a
/// long result before it gets what is left.
#[test]
fn nothing_is_stable_beside_a_pinned_newest_unit() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Where is it?").call("", &["a"]);
    talk.answer("a", &"The order is late. ".repeat(200));
    talk.say(Role::User, &"Think of this. ".repeat(20)).pin(4);
    let request = Request { budget: Some(900), ..Request::default() };
    let pinned_last = talk.context(&request);
    assert_eq!(pinned_last.stable, 0);
    let later = talk.say(Role::User, "And?").context(&request);
    assert_ne!(told(&pinned_last)[2], told(&later)[2], "the result is shorter now");
    assert_eq!(later.stable, later.messages.len());
}

/// A result that is cut less pushes out nothing that a smaller context shows beside it.
#[test]
fn a_longer_result_is_no_reason_to_show_less() {
    let mut talk = Talk::session();
    for order in 0..12 {
        talk.say(Role::User, &format!("Where is order {order}?"));
        talk.say(Role::Assistant, &format!("Order {order} is late.{}", " So wait.".repeat(order % 4)));
    }
    talk.call("", &["a"]).answer("a", &"The order is late. ".repeat(2_000));
    let shown = |budget| sequences(&talk.context(&within(budget))).into_iter().map(Sequence).collect();
    for budget in (100..800).step_by(5) {
        for more in (2 * budget..3 * budget).step_by(47) {
            let (few, many): (Ranges, Ranges) = (shown(budget), shown(more));
            assert!(many.holds(&few), "{few} of {budget}, {many} of {more}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn contexts_are_whole_and_within_their_budget(
        steps in steps(),
        request in requests(),
        window in 4..60u32,
    ) {
        let policy = Policy { utterances: Some(Marks::of(window)), ..Policy::ROLLING };
        let mut talk = Talk::with(policy);
        steps.iter().for_each(|step| talk.step(step));
        let found: Vec<_> = talk.said().step_by(3).map(|said| talk.found(said)).collect();
        let asked = talk.asked();
        let turns = if request.include_archive { &talk.1[..] } else { &[] };
        let archived = Archived { recalled: &found, turns, asked, ..Archived::default() };
        let context = match build_with(&talk.0, archived, &request, o200k()) {
            Ok(context) => context,
            Err(refusal) => {
                let needed = needed(&refusal);
                prop_assert!(Some(needed) > request.budget);
                let enough = Request { budget: Some(needed), ..request.clone() };
                let context = build_with(&talk.0, archived, &enough, o200k()).unwrap();
                prop_assert!(context.tokens <= needed);
                context
            }
        };
        check_exchanges(&context)?;
        check_account(&talk, &context)?;
        check_recalled(&talk, &context)?;
        check_opening(&context)?;
        prop_assert!(context.stable <= context.messages.len() && context.head <= context.messages.len());
        let budget = request.budget.or(Request::default_budget(&talk.0));
        if request.budget.is_none() {
            prop_assert!(budget.is_none_or(|budget| context.tokens <= budget));
        }
        for message in context.messages.iter().filter(|_| context.format != Format::Text) {
            let words = 4 + o200k().count(message.text());
            // what was said also has a name, calls, or a mark
            let is_said = message.how == How::Trimmed && !message.is_result();
            prop_assert!(message.instead.is_none() || message.role == Role::Assistant
                || message.tokens == words || is_said && message.tokens > words, "{:?}", message);
        }
    }

    /// What a context shows, its double shows too, unless it takes no part where it stands.
    #[test]
    fn more_budget_never_gives_less(
        steps in steps(),
        request in requests(),
        window in 4..60u32,
        budget in 100..2_000u32,
        more in 0..2_000u32,
    ) {
        let policy = Policy { utterances: Some(Marks::of(window)), ..Policy::ROLLING };
        let mut talk = Talk::with(policy);
        steps.iter().for_each(|step| talk.step(step));
        let found: Vec<_> = talk.said().step_by(3).map(|said| talk.found(said)).collect();
        let turns = if request.include_archive { &talk.1[..] } else { &[] };
        let archived = Archived { recalled: &found, turns, ..Archived::default() };
        let shown = |budget: u32| {
            let request = Request { budget: Some(budget), ..request.clone() };
            let context = build_with(&talk.0, archived, &request, o200k()).ok()?;
            // what only stands before a match comes with that alone
            let is_match = |unit: Sequence| found.iter().any(|one| one.found.utterance.unit == unit);
            let recalled = context.recalled.iter().map(|found| &found.utterance);
            let recalled = recalled.filter(|said| is_match(said.unit)).map(|said| said.sequence);
            let all: Ranges = sequences(&context).into_iter().map(Sequence).chain(recalled).collect();
            let cut = [Omission::Budget, Omission::Evicted];
            let mut barred = Ranges::new();
            let others = context.omitted.iter().filter(|(why, _)| !cut.contains(why));
            others.for_each(|(_, ranges)| barred.union(ranges));
            Some((all, barred, told(&context)))
        };
        let Some((mut few, _, told_few)) = shown(budget) else { return Ok(()) };
        let (many, barred, told_many) = shown(2 * budget + more).unwrap();
        few.subtract(&barred);
        // of a pinned unit, what has no answer is left out
        let units: Vec<Sequence> =
            talk.said().filter(|said| many.contains(said.sequence)).map(|said| said.unit).collect();
        few.subtract(&talk.said().filter(|said| units.contains(&said.unit)).map(|said| said.sequence).collect());
        prop_assert!(many.holds(&few), "{few} {many}\n{told_few:#?}\n{told_many:#?}");
    }

}
