//! Backups: all records of a store at one moment, in a file.
//!
//! | part | bytes |
//! |---|---|
//! | head | `utterd backup`, `format: 1`, a line each |
//! | blocks of records, by ascending key | the kind, `R`; the length, four bytes; records; the checksum, eight bytes |
//! | a last block | the kind, `E`; the length; how many records there were, eight bytes; the checksum |
//!
//! - A record is the key's length and the value's, four bytes each, the key and the value, as they stand in an
//!   engine: see [`records`](super::records).
//! - A checksum is xxh3-64 over the checksum before it (that of the head for the first), the kind, the length and
//!   what is in the block: a block that is changed, missing, doubled or moved is noticed, and so is an end that is.
//! - All numbers have their highest byte first.
//! - What a store keeps of its own files (groups, links, what is to be scrubbed) is not in it.

mod block;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Backup, BackupError, Held};
pub(super) use stream::stream;

use super::{
    copy::{Copied, CopyError, copy_from},
    directory::Directory,
};

/// Makes the store of a backup in `to`, which is empty or holds the beginning of the same.
///
/// It is a copy as [`copy()`](super::copy()) makes one: marked until it is finished, and compared at the end.
pub fn restore(
    backup: &Backup,
    to: &Directory,
    progress: &mut dyn FnMut(Copied),
) -> Result<Copied, CopyError> {
    copy_from(backup, to, progress)
}
