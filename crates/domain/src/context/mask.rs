//! Which tool results and images are masked.
//!
//! A result, or an image, that is at least `n` turns old can be masked. The bound moves in steps of `n` turns (at least
//! two), so that a prefix does not change between two steps; a result is masked when it is `n` to `2 n` turns
//! old. Published work finds masks as good as a model's summary at half the cost.

use crate::{Utterance, shortening::grouped};

/// The fewest turns of a step.
const LEAST_STEP: u32 = 2;

/// The first turn whose results are whole, if results are masked after `turns` turns and the newest turn is
/// `now`.
pub(super) fn first_whole_turn(turns: u32, now: u32) -> u32 {
    let step = turns.max(LEAST_STEP);
    match (now + 1).checked_sub(turns) {
        Some(bound) => bound / step * step,
        None => 0,
    }
}

/// The text in place of a result of `tool`.
pub(super) fn text(tool: &str, result: &Utterance, tokens: u32) -> String {
    format!("[result of {tool}, {} tokens, omitted; sequence {}]", grouped(tokens), result.sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_move_in_steps() {
        let bounds: Vec<u32> = (1..=12).map(|now| first_whole_turn(3, now)).collect();
        assert_eq!(bounds, [0, 0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9]);
        for (turns, now) in (1..9).flat_map(|turns| (1..50).map(move |now| (turns, now))) {
            let first = first_whole_turn(turns, now);
            // the newest masked turn is as old as was asked for, the oldest whole one not twice that
            assert!(first == 0 || now - (first - 1) >= turns);
            assert!(now - first < 2 * turns.max(LEAST_STEP) + turns);
        }
    }
}
