//! The budget of a window as a bar.

use super::text::{count, counted};
use utterd_rpc::proto::Capacity;

/// Cells of the bar.
const CELLS: usize = 12;

/// One line: `[████░░░░] 5,120 of 8,000 tokens · 14 of 20 utterances · 7 turns`.
///
/// The bar shows tokens if they have a limit, else utterances, else turns; a window without limits
/// has no bar.
pub fn bar(capacity: &Capacity) -> String {
    let measures = [
        (capacity.token_count(), capacity.max_tokens, "token"),
        (capacity.utterance_count(), capacity.max_utterances, "utterance"),
        (capacity.turn_count(), capacity.max_turns, "turn"),
    ];
    let texts: Vec<_> = measures.iter().map(|(used, max, noun)| measure(*used, *max, noun)).collect();
    let limited = measures.iter().find_map(|(used, max, _)| max.map(|max| (*used, max)));
    let over = if capacity.over_limit() { " · over the limit" } else { "" };
    let cells = limited.map(|(used, max)| format!("[{}] ", cells(used, max, CELLS))).unwrap_or_default();
    format!("{cells}{}{over}", texts.join(" · "))
}

fn measure(used: i32, max: Option<i32>, noun: &str) -> String {
    match max {
        Some(max) => format!("{} of {}", count(used), counted(max, noun)),
        None => counted(used, noun),
    }
}

/// A bar of `cells` cells, filled by the share in use: empty only at 0, full only at the maximum.
fn cells(used: i32, max: i32, cells: usize) -> String {
    let (used, max) = (u64::try_from(used).unwrap_or(0), u64::try_from(max).unwrap_or(1).max(1));
    let full = (used * cells as u64 / max).clamp(u64::from(used > 0), cells as u64) as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(cells - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_every_measure() {
        let capacity = Capacity {
            token_count: Some(4_000),
            max_tokens: Some(8_000),
            utterance_count: Some(14),
            max_utterances: Some(20),
            turn_count: Some(1),
            ..Default::default()
        };
        let expected = "[██████░░░░░░] 4,000 of 8,000 tokens · 14 of 20 utterances · 1 turn";
        assert_eq!(bar(&capacity), expected);
    }

    #[test]
    fn a_bar_is_never_longer_than_full() {
        assert_eq!(cells(9, 3, CELLS), "█".repeat(CELLS));
        assert_eq!(cells(1, i32::MAX, CELLS).matches('█').count(), 1);
        assert_eq!(cells(0, 5, CELLS).matches('█').count(), 0);
    }

    #[test]
    fn without_limits_there_is_no_bar() {
        assert_eq!(bar(&Capacity::default()), "0 tokens · 0 utterances · 0 turns");
    }
}
