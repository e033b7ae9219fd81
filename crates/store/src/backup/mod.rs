//! Backups: everything that a store holds at one moment, in a file, for a store of any backend.
//!
//! | part | bytes |
//! |---|---|
//! | head | `utterd backup` and `format: 1`, one per line |
//! | blocks of records, by ascending key | kind `R`; length, four bytes; records; checksum, eight bytes |
//! | a last block | kind `E`; length; number of records, eight bytes; checksum |
//!
//! - A record is the length of its key and of its value, four bytes each, then the key and the value as the durable
//!   stores keep them: see [`records`](super::records).
//! - A checksum is xxh3-64 over the previous checksum (the head's for the first block), the kind, the length
//!   and the block's content. It reveals a changed, missing, repeated or moved block, and a changed end.
//! - All numbers are big-endian.
//! - Records that are derived from others, and the numbers of a store's own files, are left out (`is_kept`): a restore
//!   derives them again.

mod block;
mod error;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub use error::{BackupError, RestoreError};
pub use read::{Backup, Held, Reader};
pub use write::write;

use super::{
    entries,
    records::{Blocks, GivenIds, Kind, Links, Metas},
};

/// Whether a backup has the records with this key.
pub(crate) fn is_kept(key: &[u8]) -> bool {
    const LEFT_OUT: [u8; 4] = [Metas::NUMBER, Links::NUMBER, GivenIds::NUMBER, Blocks::NUMBER];
    key.first().is_none_or(|kind| !LEFT_OUT.contains(kind) && !entries::KINDS.contains(kind))
}
