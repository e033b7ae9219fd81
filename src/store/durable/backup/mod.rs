//! Backups: all records of a store at one moment, in a file.
//!
//! | part | bytes |
//! |---|---|
//! | head | `utterd backup` and `format: 1`, one per line |
//! | blocks of records, by ascending key | kind `R`; length, four bytes; records; checksum, eight bytes |
//! | a last block | kind `E`; length; number of records, eight bytes; checksum |
//!
//! - A record is the length of its key and of its value, four bytes each, then the key and the value as
//!   stored in an engine: see [`records`](super::records).
//! - A checksum is xxh3-64 over the previous checksum (the head's for the first block), the kind, the length
//!   and the block's content. It reveals a changed, missing, repeated or moved block, and a changed end.
//! - All numbers are big-endian.
//! - The store's data about its own files (groups, links, unscrubbed data) is left out.

mod block;
mod read;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Backup, BackupError, Held};
pub(super) use stream::stream;
