//! How filters compose: each further one selects less, and an exclusion is what is left.

use proptest::prelude::*;
use utterd_domain::{Ranges, forgetting};

use crate::{
    NOW,
    conversation::{everything, selected},
};

/// Filters as they follow "all messages".
const FILTERS: [&str; 16] = [
    "from Bob",
    "from Alice",
    "from me",
    "by the assistant",
    "from the search tool",
    "in turn 4",
    "in the last two turns",
    "before turn 6",
    "after turn 3",
    "from yesterday",
    "since noon",
    "before Saturday",
    "that Bob wrote",
    "about Rex",
    "mentioning the hotel",
    "about the budget",
];

/// Objects of a sentence.
const OBJECTS: [&str; 12] = [
    "the last two messages",
    "the first and the last message",
    "what Bob said",
    "my messages",
    "everything about Rex",
    "every mention of Marco",
    "turns 2 to 4",
    "messages 3 and 5",
    "the tool results",
    "yesterday's messages",
    "everything since noon",
    "the last message from Alice",
];

/// What a sentence selects, unless it is refused.
fn of(sentence: &str) -> Option<Ranges> {
    let asked = forgetting::parse(sentence).ok()?;
    Some(selected(&asked.at(NOW)))
}

/// Whether every sequence of `part` is in `whole`.
fn within(part: &Ranges, whole: &Ranges) -> bool {
    part.intersection(whole) == *part
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_further_filter_never_selects_more(filters in prop::sample::subsequence(&FILTERS[..], 1..4).prop_shuffle()) {
        let Some(all) = of(&format!("forget all messages {}", filters.join(" "))) else { return Ok(()) };
        for filter in &filters {
            let alone = of(&format!("forget all messages {filter}")).expect("each is understood alone");
            prop_assert!(within(&all, &alone), "{filters:?}: {all} is more than {filter}: {alone}");
        }
    }

    #[test]
    fn what_is_excluded_is_what_is_left(object in prop::sample::select(&OBJECTS[..]), keep in 0..3_usize) {
        let excluding = [
            format!("forget everything except {object}"),
            format!("keep only {object}"),
            format!("forget everything but {object}"),
        ];
        let named = of(&format!("forget {object}")).expect(object);
        let left = of(&excluding[keep]).expect(object);
        let mut rest = everything();
        rest.subtract(&named);
        prop_assert_eq!(left, rest, "{}", &excluding[keep]);
    }
}
