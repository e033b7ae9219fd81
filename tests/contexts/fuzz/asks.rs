//! Contexts that are asked for.

use proptest::{option, prelude::*};
use utterd::proto::{BuildContextRequest, ContextRecall};

/// A context of the recipient's conversation, in any form and any budget.
pub fn request() -> impl Strategy<Value = BuildContextRequest> {
    let budget = prop_oneof![2 => 1..40i32, 3 => 40..400i32, 1 => 400..4_000i32];
    let shape = (0..4i32, option::weighted(0.8, budget), option::of(0..5i32), any::<Option<bool>>());
    let parts = (0..3i32, option::weighted(0.4, recall()), option::weighted(0.3, 1..4i32), 0..3i32);
    (shape, parts).prop_map(
        |((format, token_budget, max_turns, stable_steps), (summary, recall, mask, unanswered))| {
            BuildContextRequest {
                format,
                token_budget,
                max_turns,
                stable_steps,
                summary_placement: summary,
                recall,
                mask_tool_results_after_turns: mask,
                unanswered_calls: unanswered,
                ..BuildContextRequest::default()
            }
        },
    )
}

fn recall() -> impl Strategy<Value = ContextRecall> {
    let prompt = prop::sample::select(vec!["where is the order", "lamp", "nothing of this kind"]);
    (prompt, option::of(1..10i32))
        .prop_map(|(prompt, limit)| ContextRecall { prompt: prompt.to_owned(), limit })
}
