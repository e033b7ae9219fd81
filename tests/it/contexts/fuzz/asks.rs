//! Requests for contexts.

use proptest::{option, prelude::*};
use utterd::proto::{BuildContextRequest, ContextRecall, RememberScope};

/// A context of the recipient's conversation, in any form and with any budget.
pub fn request() -> impl Strategy<Value = BuildContextRequest> {
    let budget = prop_oneof![2 => 1..40i32, 3 => 40..400i32, 1 => 400..4_000i32];
    let limits = (option::weighted(0.8, budget), option::of(0..5i32), any::<Option<bool>>());
    let form = (0..4i32, 0..3i32, 0..3i32, option::weighted(0.3, 1..4i32));
    let more = (option::weighted(0.4, recall()), option::weighted(0.2, instructions()));
    let whole = (prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    (limits, form, more, whole).prop_map(|(limits, form, (recall, instructions), whole)| {
        BuildContextRequest {
            token_budget: limits.0,
            max_turns: limits.1,
            stable_steps: limits.2,
            format: form.0,
            summary_placement: form.1,
            unanswered_calls: form.2,
            mask_tool_results_after_turns: form.3,
            include_archive: whole.0,
            whole_messages: whole.1,
            recall,
            instructions: instructions.unwrap_or_default().to_owned(),
            ..BuildContextRequest::default()
        }
    })
}

fn instructions() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Be brief.",
        "You ship lamps, kettles and trucks, and you say where each order is.",
        " ",
    ])
}

fn recall() -> impl Strategy<Value = ContextRecall> {
    let prompt = prop::sample::select(vec!["where is the order", "lamp", "nothing of this kind"]);
    let scope = prop::sample::select(vec![RememberScope::Unspecified, RememberScope::Recipient]);
    let least = option::of(0.0..=1.0);
    (prompt, option::of(1..=50i32), scope, option::of(1..=100i32), least).prop_map(
        |(prompt, limit, scope, max_percent, min_relevance)| ContextRecall {
            prompt: prompt.to_owned(),
            limit,
            scope: scope.into(),
            max_percent,
            min_relevance,
        },
    )
}
