//! Lists the items of a line that fit, the most important first.

use crate::extractive::sentence::Sentence;

/// The places of `count` items, ordered by `rank`.
pub(in crate::extractive) fn ordered<R: Ord>(count: usize, rank: impl Fn(usize) -> R) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| rank(*at));
    order
}

/// A token rarely has more bytes: longer lines are not counted.
const MOST_TOKEN_BYTES: usize = 7;

/// The line of at most `most` items, taken in this order as long as they fit in `room` tokens, and listed by place; `bytes`
/// is the length of an item.
pub(in crate::extractive) fn fitting(
    order: Vec<usize>,
    most: usize,
    room: u32,
    bytes: impl Fn(usize) -> usize,
    line: impl Fn(&[usize]) -> Sentence,
) -> Option<Sentence> {
    let (mut chosen, mut fitting) = (Vec::new(), None);
    for at in order {
        if chosen.len() == most {
            break;
        }
        let mut more = chosen.clone();
        more.push(at);
        more.sort_unstable();
        if more.iter().map(|at| bytes(*at)).sum::<usize>() > room as usize * MOST_TOKEN_BYTES {
            continue;
        }
        let longer = line(&more);
        if longer.tokens <= room {
            (chosen, fitting) = (more, Some(longer));
        }
    }
    fitting
}
