//! The ordered key-value store under a durable store, and the contract that an engine must fulfil.

use std::{fmt, ops::Bound};

pub use crate::records::{Key, Value};

/// Pairs in key order. A pair that cannot be read is an error in its place, and the last item.
pub type Pairs<'a> = Box<dyn DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'a>;

/// An embedded store of ordered keys, in its own directory.
///
/// For all methods:
/// - Keys are ordered by their bytes.
/// - No method panics because of data on the disk: an engine's panic is caught and returned as an error.
/// - One thread at a time applies batches. Reads continue meanwhile on any thread, and see each key either
///   before or after a batch.
pub trait KeyValue: Send + Sync + 'static {
    /// Returns the value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError>;

    /// Returns the pairs between two keys, ascending; descending when read from the back. Empty if `from` is
    /// above `to`.
    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_>;

    /// Returns all pairs, ascending, as of one moment between two batches.
    ///
    /// - Batches can be applied meanwhile, except for a brief moment.
    /// - An engine whose ranges see later writes copies all pairs first. This takes time, and the copy takes
    ///   disk space until the iterator is dropped.
    /// - The default is a range over everything, which is correct if a range reads one state.
    fn snapshot(&self) -> Result<Pairs<'_>, KeyValueError> {
        Ok(self.range(Bound::Unbounded, Bound::Unbounded))
    }

    /// Returns the bytes that a snapshot takes on disk; 0 by default.
    fn snapshot_bytes(&self) -> Result<u64, KeyValueError> {
        Ok(0)
    }

    /// Applies all writes, or none.
    ///
    /// - With [`Durability::Disk`], returns when the batch is on disk and survives a power loss. With
    ///   [`Durability::Process`], it survives the end of the process.
    /// - No key is empty or longer than [`MAX_KEY_BYTES`]: record keys never are.
    /// - After an error it is unknown whether the batch took effect, and no more batches are applied: the
    ///   store must be reopened.
    fn apply(&self, writes: Writes, durability: Durability) -> Result<(), KeyValueError>;

    /// Syncs everything that was applied to disk.
    fn sync(&self) -> Result<(), KeyValueError>;

    /// Rewrites the files until they contain no byte of data that was removed or overwritten before.
    ///
    /// - Batches can be applied and pairs read meanwhile, except for a brief moment at the end.
    /// - Waits for the ranges that began before it: a thread that holds one must not wait for a scrub.
    /// - Takes time and disk space in proportion to all pairs.
    /// - A power loss in the middle loses nothing. After an error the pairs are unchanged, and removed data
    ///   may still be in the files.
    fn scrub(&self) -> Result<(), KeyValueError>;

    /// Returns the bytes that the files take on disk.
    fn disk_bytes(&self) -> Result<u64, KeyValueError>;

    /// Fails if the files that batches are written to are no longer where they were opened: later batches
    /// would be lost when the store closes.
    fn check_place(&self) -> Result<(), KeyValueError> {
        Ok(())
    }

    /// Whether reads can see a batch before it reaches the requested durability.
    fn visible_before_flush(&self) -> bool {
        false
    }
}

/// Maximum length of a key. A record's longest key has 781 bytes: three ids, two lengths, a time and the
/// kind's number.
pub const MAX_KEY_BYTES: usize = 782;

/// How far a batch must get before it counts as applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// To the operating system.
    Process,
    /// To the disk.
    Disk,
}

/// Writes that take effect together: keys with their new values, at most one per key; `None` removes the key.
pub type Writes = Vec<(Key, Option<Value>)>;

/// An engine error: its message, with the file if known.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyValueError(pub String);

impl fmt::Debug for KeyValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
