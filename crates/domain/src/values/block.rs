//! Blocks of a conversation's utterances, for data that is derived per block.

use std::ops::RangeInclusive;

use crate::{Ranges, Sequence, limits::BLOCK_SEQUENCES};

/// A run of [`BLOCK_SEQUENCES`] sequences of a conversation. Block n starts at n times [`BLOCK_SEQUENCES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u64);

impl Block {
    /// The block that holds `sequence`.
    pub fn of(sequence: Sequence) -> Self {
        Self(sequence.0 / BLOCK_SEQUENCES)
    }

    /// The blocks that hold any of `sequences`, ascending, each once.
    pub fn holding(sequences: &Ranges) -> impl Iterator<Item = Self> + '_ {
        let mut next = 0;
        sequences.iter().flat_map(move |range| {
            let first = Self::of(*range.start()).0.max(next);
            next = Self::of(*range.end()).0 + 1;
            (first..next).map(Self)
        })
    }

    /// The block's sequences; block 0 has one fewer, because sequences count from 1.
    pub fn sequences(self) -> RangeInclusive<Sequence> {
        let first = self.0.saturating_mul(BLOCK_SEQUENCES);
        let last = first.saturating_add(BLOCK_SEQUENCES - 1);
        Sequence(first).max(Sequence::FIRST)..=Sequence(last)
    }

    /// The block's sequences as a set.
    pub fn ranges(self) -> Ranges {
        let (first, last) = self.sequences().into_inner();
        Ranges::of(first, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(ranges: &[(u64, u64)]) -> Vec<u64> {
        let mut sequences = Ranges::new();
        ranges.iter().for_each(|(first, last)| sequences.insert(Sequence(*first), Sequence(*last)));
        Block::holding(&sequences).map(|block| block.0).collect()
    }

    #[test]
    fn a_block_holds_its_sequences() {
        for (block, first, last) in [(0, 1, 1_023), (1, 1_024, 2_047), (7, 7_168, 8_191)] {
            assert_eq!(Block(block).sequences(), Sequence(first)..=Sequence(last));
            assert_eq!([first, last].map(|at| Block::of(Sequence(at))), [Block(block); 2]);
        }
        let end = Block::of(Sequence(i64::MAX as u64));
        assert!(end.sequences().contains(&Sequence(i64::MAX as u64)));
    }

    #[test]
    fn each_block_is_named_once() {
        assert_eq!(holding(&[]), [0; 0]);
        assert_eq!(holding(&[(1, 1)]), [0]);
        assert_eq!(holding(&[(1, 3), (5, 5), (1_000, 1_030), (1_040, 1_050)]), [0, 1]);
        assert_eq!(holding(&[(1, 1), (1_024, 4_096), (9_000, 9_001)]), [0, 1, 2, 3, 4, 8]);
    }
}
