//! Turns of a window, found without looking at every utterance.

use crate::{Window, context::cut::Grid};

/// The place of the first utterance of `turn` or a later one. Turns never go back.
pub(super) fn start_of(window: &Window, turn: u32) -> usize {
    let (mut low, mut high) = (0, window.len());
    while low < high {
        let middle = low.midpoint(high);
        match window.at(middle).is_some_and(|utterance| utterance.turn < turn) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// The place from which a context has at most `most` turns; 0 if the window has no more.
///
/// In steps, more than three fifths of `most` stay, and the place does not move until `most` is exceeded;
/// otherwise `most` stay.
pub(super) fn cut(window: &Window, most: u32, in_steps: bool) -> usize {
    if window.turns() <= most {
        return 0;
    }
    let grid = in_steps.then(|| Grid::of(u64::from(most)));
    let mut best = (0, window.len());
    let (mut shown, mut end) = (0, window.len());
    while let Some(turn) = end.checked_sub(1).and_then(|last| window.at(last)).map(|last| last.turn) {
        let start = start_of(window, turn);
        let live = window.slice(start..end).any(|utterance| utterance.is_live());
        end = start;
        if turn == 0 || shown == most {
            break;
        }
        if !live {
            continue;
        }
        shown += 1;
        let before = start.checked_sub(1).and_then(|place| window.at(place)).map_or(0, |before| before.turn);
        let worth = grid.map_or(0, |grid| grid.worth(before.into(), turn.into()));
        let enough = grid.is_none_or(|grid| grid.leaves_enough(u64::from(shown - 1)));
        // a step of turns is open at its low end: it has as many lines as turns
        if (shown == most || enough) && worth >= best.0 {
            best = (worth, start);
        }
    }
    best.1
}
