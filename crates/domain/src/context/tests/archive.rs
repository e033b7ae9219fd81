//! Contexts with the archive.

use std::sync::Arc;

use proptest::prelude::*;

use super::{super::*, always::check_account, talk::*};
use crate::{
    Marks, Policy, Ranges, Role, Sequence, Utterance,
    testing::{Talk, o200k, requests, steps},
};

/// A window of 20 utterances that fills most of the budget is shown whole, and still begins where it did while it
/// grows.
#[test]
fn a_window_near_the_budget_is_whole_beside_the_archive() {
    let mut talk = Talk::with(Policy::ROLLING);
    for turn in 0..40 {
        talk.say(Role::User, &format!("Where is order {turn}?"));
        talk.say(Role::Assistant, &format!("Order {turn} is late, {}.", "so wait ".repeat(30)));
        let window: Vec<u64> = talk.0.window.iter().map(|said| said.sequence.get()).collect();
        let budget = talk.0.window.tokens() as u32 * 10 / 7;
        for budget in [budget, budget * 11 / 10] {
            let request = Request { include_archive: true, ..within(budget) };
            let archived = Archived { turns: &talk.1, ..Archived::default() };
            let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
            let shown = sequences(&context);
            assert!(window.iter().all(|said| shown.contains(said)), "{window:?} {shown:?} of {budget}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Also if the budget is near the size of the window, so that steps with the archive would begin within it.
    #[test]
    fn the_archive_never_gives_less_than_the_window(
        steps in steps(),
        request in requests(),
        window in 4..60u32,
        beyond in 0..600u32,
    ) {
        let policy = Policy { utterances: Some(Marks::of(window)), ..Policy::ROLLING };
        let mut talk = Talk::with(policy);
        steps.iter().for_each(|step| talk.step(step));
        let asked = talk.asked();
        let shown = |include_archive: bool| {
            let budget = talk.0.window.tokens() as u32 + beyond;
            let request = Request {
                include_archive,
                stable_steps: Some(true),
                budget: Some(budget),
                recall: None,
                ..request.clone()
            };
            let turns = if include_archive { &talk.1[..] } else { &[] };
            let archived = Archived { turns, asked, ..Archived::default() };
            build_with(&talk.0, archived, &request, o200k()).map(|context| {
                (sequences(&context).into_iter().map(Sequence).collect::<Ranges>(), told(&context))
            })
        };
        match (shown(false), shown(true)) {
            (Ok((mut few, told_few)), Ok((many, told_many))) => {
                // a pinned unit has its share; beyond that, turns of the archive that are newer come first
                let newest_left = talk.0.head.left.last();
                let pinned: Vec<Sequence> =
                    talk.said().filter(|said| said.pinned && Some(said.sequence) < newest_left).map(|said| said.unit).collect();
                few.subtract(&talk.said().filter(|said| pinned.contains(&said.unit)).map(|said| said.sequence).collect());
                prop_assert!(many.holds(&few), "{few} {many}\n{told_few:#?}\n{told_many:#?}");
            }
            (few, many) => prop_assert_eq!(few.is_err(), many.is_err()),
        }
    }
}

/// What is archived and a context has room for, read a little at a time.
fn reached(talk: &Talk, request: &Request) -> Vec<Arc<Utterance>> {
    let Some(mut reach) = Reach::of(&talk.0, request) else { return Vec::new() };
    let mut turns = Vec::new();
    for read in talk.1.rchunks(3) {
        if !reach.goes_on() {
            break;
        }
        reach.go_over(read);
        turns.splice(0..0, read.iter().cloned());
    }
    let is_all = turns.len() == talk.1.len();
    reach.trim(&mut turns, is_all);
    turns
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Long results push what is short out of the window; contexts have room for it beside what they cut.
    #[test]
    fn a_turn_in_progress_is_shown_around_long_results(
        before in 0..3usize,
        lengths in prop::collection::vec(prop_oneof![4 => 1..20usize, 1 => 300..3_000usize], 1..12),
        budget in prop::option::of(2_200..6_000u32),
        request in requests(),
        include_archive in any::<bool>(),
    ) {
        let mut talk = Talk::with(Policy { tokens: Some(Marks::of(400)), ..Policy::ROLLING });
        for turn in 0..before {
            talk.say(Role::User, &format!("Question {turn}")).say(Role::Assistant, "An answer.");
        }
        talk.say(Role::User, "Go.");
        for length in &lengths {
            talk.call("", &["a"]).answer("a", &"late ".repeat(*length));
        }
        let request = Request {
            format: if request.format == Format::Text { Format::OpenAiChat } else { request.format },
            budget,
            include_archive,
            recall: None,
            instructions: None,
            mask_images_after_turns: None,
            ..request
        };
        let turns = reached(&talk, &request);
        let with = Request { include_archive: include_archive || !turns.is_empty(), ..request.clone() };
        let archived = Archived { turns: &turns, asked: talk.asked(), ..Archived::default() };
        let context = build_with(&talk.0, archived, &with, o200k()).unwrap();
        check_account(&talk, &context)?;
        prop_assert!(context.tokens <= with.budget.or(Request::default_budget(&talk.0)).unwrap());
        let shown = sequences(&context);
        let is_long = |exchange: &&usize| lengths[**exchange] >= 300;
        let exchanges: Vec<usize> = (0..lengths.len()).collect();
        let long: Vec<usize> = exchanges.iter().filter(is_long).copied().collect();
        let asked = 2 * before as u64 + 1;
        prop_assert!(shown.contains(&asked), "{:?}", told(&context));
        // there is room for one that is long
        let first = long.iter().rev().nth(1).map_or(0, |older| older + 1);
        if long.len() < 2 || request.stable_steps == Some(false) {
            for exchange in first..lengths.len() {
                let call = asked + 1 + 2 * exchange as u64;
                prop_assert!(shown.contains(&call), "{exchange} of {lengths:?}: {:#?}", told(&context));
            }
        }
    }
}

proptest! {
    // each is a long talk, of which every turn builds a context
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn with_the_archive_a_context_begins_alike_between_few_steps(budget in 800..3_000u32) {
        let policy = Policy { utterances: Some(Marks::of(12)), ..Policy::ROLLING };
        let mut talk = Talk::with(policy);
        let request = Request { include_archive: true, ..within(budget) };
        let (mut begins, mut fullest) = (Vec::new(), 0);
        for turn in 0..120 {
            talk.say(Role::User, &format!("Where is order {turn}?"));
            talk.say(Role::Assistant, &format!("Order {turn} is late, {}.", "so wait ".repeat(turn % 7)));
            let archived = Archived { turns: &talk.1, ..Archived::default() };
            let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
            check_account(&talk, &context)?;
            begins.push(sequences(&context)[0]);
            fullest = fullest.max(context.tokens);
        }
        prop_assert!(fullest > budget * 9 / 10, "{fullest} of {budget}");
        prop_assert!(begins.is_sorted() && begins.iter().all(|first| first % 2 == 1), "{begins:?}");
        begins.dedup();
        // a step leaves three fifths of what fits
        prop_assert!(begins.len() as u32 <= 4_500 / (budget / 4), "{begins:?}");
    }
}
