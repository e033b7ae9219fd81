//! Whether two sets have the same members, whichever order they are read in.

use xxhash_rust::xxh3::xxh3_128;

/// The number of a set's members, and the sum of their hashes: equal for equal sets, and, but
/// for a chance of one in 2^128, only for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SetHash {
    count: u64,
    sum: u128,
}

impl SetHash {
    /// Adds a member, told by bytes that no other member has.
    pub(super) fn add(&mut self, member: &[u8]) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(xxh3_128(member));
    }
}
