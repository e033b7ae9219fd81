//! Byte-pair encoding of a piece, in time linear in its length.
//!
//! A short piece is encoded as the definition says. A long one is encoded window by window, since the usual algorithms
//! take `n log n` or more. This is exact for the following reason: a series of tokens is the encoding of its bytes if
//! and only if each pair of neighbours is the encoding of its own bytes. That holds for vocabularies in which each
//! token encodes to itself, as in OpenAI's. Take the encoding of a text, and that of a window that covers its end and
//! goes beyond it. If both have one token in common, at the same place, then the first encoding up to this token and
//! the second from there on are together the encoding of the whole: each pair of neighbours occurs in one of the two.

use super::{
    ranks::{NO_RANK, Ranks},
    runs,
};

/// How many new bytes a window adds.
const STEP: usize = 64;

/// How many encoded bytes a window looks back at. Usually the first token there is in both encodings; if no token is,
/// the window looks back further.
const LOOK_BACK: usize = 16;

/// A window up to this length, in bytes, is encoded by scanning all of it for each merge.
const SHORT: usize = 256;

/// Returns the number of tokens of `piece`.
pub(super) fn count(ranks: &Ranks, piece: &[u8]) -> usize {
    if piece.len() < 2 || ranks.rank(piece) != NO_RANK {
        return piece.len().min(1);
    }
    if runs::suits(piece) { runs::count(ranks, piece) } else { Windows::new(ranks, piece).count() }
}

/// A piece that is encoded window by window.
struct Windows<'a> {
    ranks: &'a Ranks,
    piece: &'a [u8],
    /// The ends of the tokens encoded so far.
    ends: Vec<usize>,
    /// The ends of the tokens of the last window.
    window: Vec<usize>,
}

impl<'a> Windows<'a> {
    fn new(ranks: &'a Ranks, piece: &'a [u8]) -> Self {
        Self { ranks, piece, ends: Vec::new(), window: Vec::new() }
    }

    fn count(mut self) -> usize {
        let mut step = STEP + LOOK_BACK;
        while self.encoded() < self.piece.len() {
            let reach = self.piece.len().min(self.encoded() + step);
            // If a window has to look back far, the next goes forward as far, so no byte is encoded many times.
            step = self.extend(reach).max(STEP);
        }
        self.ends.len()
    }

    /// Returns the number of bytes encoded so far.
    fn encoded(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Encodes everything up to `reach`, and returns how far it had to look back.
    fn extend(&mut self, reach: usize) -> usize {
        let mut back = LOOK_BACK;
        loop {
            let seen_from = self.encoded().saturating_sub(back);
            let kept = self.ends.partition_point(|&end| end <= seen_from);
            let start = kept.checked_sub(1).map_or(0, |last| self.ends[last]);
            encode(self.ranks, self.piece, start..reach, &mut self.window);
            if let Some((old, new)) = common(&self.ends[kept..], &self.window, start) {
                self.ends.truncate(kept + old);
                self.ends.extend_from_slice(&self.window[new..]);
                return back;
            }
            if kept == 0 {
                std::mem::swap(&mut self.ends, &mut self.window);
                return back;
            }
            back *= 2;
        }
    }
}

/// Returns the indexes, in both encodings from `start` on, of the first token that they have in common.
fn common(old: &[usize], new: &[usize], start: usize) -> Option<(usize, usize)> {
    let begin = |ends: &[usize], at: usize| at.checked_sub(1).map_or(start, |before| ends[before]);
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        match old[i].cmp(&new[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal if begin(old, i) == begin(new, j) => return Some((i, j)),
            std::cmp::Ordering::Equal => (i, j) = (i + 1, j + 1),
        }
    }
    None
}

/// Fills `ends` with the ends of the tokens of a part of `piece`.
fn encode(ranks: &Ranks, piece: &[u8], part: std::ops::Range<usize>, ends: &mut Vec<usize>) {
    if part.len() > SHORT {
        runs::encode(ranks, piece, part, ends);
        return;
    }
    ends.clear();
    ends.extend(part.start + 1..=part.end);
    let mut merges: Vec<u32> = piece[part.clone()].windows(2).map(|pair| ranks.rank(pair)).collect();
    while let Some(at) = first_lowest(&merges) {
        ends.remove(at);
        merges.remove(at);
        let start = |token: usize| token.checked_sub(1).map_or(part.start, |before| ends[before]);
        let rank = |token: usize| ranks.rank(&piece[start(token)..ends[token + 1]]);
        if at < merges.len() {
            merges[at] = rank(at);
        }
        if at > 0 {
            merges[at - 1] = rank(at - 1);
        }
    }
}

/// Returns the index of the first of the lowest ranks; `None` if there is no rank.
fn first_lowest(ranks: &[u32]) -> Option<usize> {
    let lowest = ranks.iter().copied().min().filter(|&rank| rank != NO_RANK)?;
    ranks.iter().position(|&rank| rank == lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes, and the pairs of each byte and the next higher one; later pairs merge first, so the end of a rising
    /// piece decides how all of it is merged.
    fn rising() -> Ranks {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let pairs = (0..u8::MAX).rev().map(|byte| vec![byte, byte + 1]);
        Ranks::new(bytes.chain(pairs))
    }

    #[test]
    fn windows_look_back_as_far_as_they_must() {
        let ranks = rising();
        let piece: Vec<u8> = (0..=u8::MAX).cycle().take(2000).collect();
        for len in (1..600).chain([1999, 2000]) {
            let windows = Windows::new(&ranks, &piece[..len]).count();
            assert_eq!(windows, runs::count(&ranks, &piece[..len]), "{len} bytes");
        }
    }

    #[test]
    fn a_token_and_a_byte_are_one() {
        let ranks = rising();
        let counts = [&b""[..], b"a", b"ab", b"ba", b"abc"].map(|piece| count(&ranks, piece));
        assert_eq!(counts, [0, 1, 1, 2, 2]);
    }

    #[test]
    fn encodings_meet_at_a_token_and_not_at_its_end_alone() {
        assert_eq!(common(&[2, 4, 6], &[1, 4, 6, 7], 0), Some((2, 2)));
        assert_eq!(common(&[2], &[2, 3], 0), Some((0, 0)));
        assert_eq!(common(&[2, 4], &[1, 3, 5], 0), None);
    }
}
