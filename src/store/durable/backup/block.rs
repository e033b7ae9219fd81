//! The frame of a block, and the first lines.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The first line of a backup.
pub(super) const TITLE: &str = "utterd backup";
/// The format that is written, and the newest that is read.
pub(super) const FORMAT: u32 = 1;
/// Bytes of a block beyond which it is ended.
pub(super) const BLOCK_BYTES: usize = 256 << 10;
/// Bytes of a block at most: one beyond the others holds a single large record.
pub(super) const MAX_BLOCK_BYTES: usize = 1 << 30;
/// Bytes of a kind and a length.
pub(super) const FRAME: usize = 5;

/// What a block holds.
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

/// The first lines.
pub(super) fn head() -> String {
    format!("{TITLE}\nformat: {FORMAT}\n")
}

/// What the first block's checksum is made over.
pub(super) fn checksum_of_head() -> u64 {
    xxh3_64(head().as_bytes())
}

/// The checksum of a block: of its frame and what is in it, behind the block with the checksum `before`.
pub(super) fn checksum(before: u64, frame: &[u8], content: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&before.to_be_bytes());
    hash.update(frame);
    hash.update(content);
    hash.digest()
}
