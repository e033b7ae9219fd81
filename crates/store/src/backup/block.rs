//! The frame of a block, and the head of a backup.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The first line of a backup.
pub(super) const TITLE: &str = "utterd backup";
/// The format this version writes, and the newest it can read.
pub(super) const FORMAT: u32 = 1;
/// A block is ended before it exceeds this size.
pub(super) const BLOCK_BYTES: usize = 256 << 10;
/// Maximum size of a block: one larger than [`BLOCK_BYTES`] holds a single large record.
pub(super) const MAX_BLOCK_BYTES: usize = 1 << 30;
/// Size of a block's kind and length.
pub(super) const FRAME: usize = 5;

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Records,
    End,
}

impl Holds {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Records => b'R',
            Self::End => b'E',
        }
    }

    pub(super) fn of(byte: u8) -> Option<Self> {
        [Self::Records, Self::End].into_iter().find(|holds| holds.byte() == byte)
    }
}

/// The first lines of a backup.
pub(super) fn head() -> String {
    format!("{TITLE}\nformat: {FORMAT}\n")
}

/// The checksum that the first block's checksum continues.
pub(super) fn checksum_of_head() -> u64 {
    xxh3_64(head().as_bytes())
}

/// The checksum of a block's frame and content; `before` is the checksum of the previous block.
pub(super) fn checksum(before: u64, frame: &[u8], content: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&before.to_be_bytes());
    hash.update(frame);
    hash.update(content);
    hash.digest()
}
