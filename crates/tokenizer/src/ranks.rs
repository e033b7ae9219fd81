//! The tokens of a vocabulary, found by their bytes.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The rank that [`Ranks`] returns for bytes that are not a token.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The ranks of all tokens, in about 20 bytes per token.
///
/// Tokens are numbered in the order of their ranks, as byte-pair encoding only needs to know which of two pairs is
/// merged first.
pub(super) struct Ranks {
    /// All tokens, one after another.
    bytes: Vec<u8>,
    /// The end of each token in `bytes`.
    ends: Vec<u32>,
    /// The ranks of all tokens but those of two bytes, by the hash of their bytes.
    table: HashTable<u32>,
    /// The ranks of two-byte tokens, which are half of all lookups.
    pairs: Vec<u32>,
    longest: usize,
}

impl Ranks {
    /// The ranks of `tokens`, which must be in the order of their ranks.
    pub(super) fn new(tokens: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut ranks = Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            pairs: Vec::new(),
            longest: 0,
        };
        for token in tokens {
            ranks.longest = ranks.longest.max(token.len());
            ranks.bytes.extend(token);
            ranks.ends.push(u32::try_from(ranks.bytes.len()).unwrap_or(u32::MAX));
        }
        ranks.bytes.shrink_to_fit();
        ranks.ends.shrink_to_fit();
        ranks.index();
        ranks
    }

    fn index(&mut self) {
        let mut table = HashTable::with_capacity(self.ends.len());
        self.pairs = vec![NO_RANK; 1 << 16];
        for rank in 0..self.ends.len() as u32 {
            let token = self.token(rank);
            if let &[first, second] = token {
                self.pairs[pair(first, second)] = rank;
            } else {
                table.insert_unique(hash(token), rank, |&rank| hash(self.token(rank)));
            }
        }
        self.table = table;
    }

    /// Returns the rank of the token with these bytes; [`NO_RANK`] if there is none.
    pub(super) fn rank(&self, bytes: &[u8]) -> u32 {
        match bytes {
            &[first, second] => self.pairs[pair(first, second)],
            _ if bytes.len() > self.longest => NO_RANK,
            _ => {
                let found = self.table.find(hash(bytes), |&rank| self.token(rank) == bytes);
                found.copied().unwrap_or(NO_RANK)
            }
        }
    }

    fn token(&self, rank: u32) -> &[u8] {
        let rank = rank as usize;
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[rank] as usize]
    }
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

fn hash(bytes: &[u8]) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_by_their_bytes() {
        let tokens = ["b", "a", "ab", "aba", "\0", "\0\0"].map(|token| token.as_bytes().to_vec());
        let ranks = Ranks::new(tokens.iter().cloned());
        for (rank, token) in (0..).zip(&tokens) {
            assert_eq!(ranks.rank(token), rank, "{token:?}");
        }
        for unknown in ["", "c", "ba", "aab", "abab"] {
            assert_eq!(ranks.rank(unknown.as_bytes()), NO_RANK, "{unknown:?}");
        }
    }
}
