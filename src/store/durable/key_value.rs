//! The ordered key-value store under a durable store: what an engine has to do.

use std::{fmt, ops::Bound};

/// A key, as it stands in the engine.
pub type Key = Vec<u8>;
/// A value, as it stands in the engine.
pub type Value = Vec<u8>;
/// Pairs in the order of their keys. A pair that cannot be read is an error in its place, and the
/// last item.
pub type Pairs<'a> = Box<dyn DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'a>;

/// An embedded store of ordered keys, in a directory of its own.
///
/// What holds for all methods:
/// - Keys are ordered by their bytes.
/// - No method panics on what the disk brings: an engine that panics is caught, and the panic
///   is the error.
/// - Batches are applied by one thread at a time; reads go on meanwhile, on any thread, and see
///   for each key what a batch made of it or what was there before.
pub trait KeyValue: Send + Sync + 'static {
    /// The value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError>;

    /// The pairs between two keys, ascending; from behind, descending. None when `from` is above `to`.
    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_>;

    /// All pairs, ascending, as they are at one moment between two batches.
    ///
    /// - Batches are applied meanwhile, but for a moment.
    /// - An engine whose ranges go along with the writes copies its files for it first, which takes time, and until
    ///   the pairs are dropped room on the disk, as all pairs do.
    /// - By default it is the range of all: right where a range is of one state.
    fn snapshot(&self) -> Result<Pairs<'_>, KeyValueError> {
        Ok(self.range(Bound::Unbounded, Bound::Unbounded))
    }

    /// Bytes that a snapshot takes on the disk; by default none.
    fn snapshot_bytes(&self) -> Result<u64, KeyValueError> {
        Ok(0)
    }

    /// Makes every write of `batch` effective, or none.
    ///
    /// - With [`Durability::Disk`], returns when the batch is on the disk: it survives a loss of
    ///   power. With [`Durability::Process`] it survives the end of the process.
    /// - No key is empty, or longer than [`MAX_KEY_BYTES`]: those of records never are.
    /// - After an error it is not known whether the batch is effective, and nothing more is
    ///   applied: the store has to be opened again.
    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError>;

    /// Brings everything that was applied to the disk.
    fn sync(&self) -> Result<(), KeyValueError>;

    /// Rewrites the files until no byte of what was removed or overwritten before is in them.
    ///
    /// - Batches are applied and pairs are read meanwhile, but for a moment at the end.
    /// - It waits for the ranges that began before it: who holds one must not wait for a scrub.
    /// - It takes time and room on the disk as all pairs do.
    /// - A loss of power in the middle loses nothing. After an error the pairs are as they were, and
    ///   what was removed may still be in the files.
    fn scrub(&self) -> Result<(), KeyValueError>;

    /// Bytes that the files take on the disk.
    fn disk_bytes(&self) -> Result<u64, KeyValueError>;

    /// Fails when the files that batches are written to are not where they were opened: what is applied is then
    /// lost with the store's end.
    fn check_place(&self) -> Result<(), KeyValueError> {
        Ok(())
    }

    /// Whether reads see a batch before it is as durable as it was asked to be.
    fn visible_before_flush(&self) -> bool {
        false
    }
}

/// Bytes that a key has at most. The longest of a record has 781: three ids, two lengths, a time and
/// the kind's number.
pub const MAX_KEY_BYTES: usize = 782;

/// How far an applied batch has to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// To the operating system.
    Process,
    /// To the disk.
    Disk,
}

/// Writes that become effective together: for each key at most one, a value or a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Keys with their new values; `None` removes the key.
    pub writes: Vec<(Key, Option<Value>)>,
}

/// An engine that fails: what it says, with the file where it is known.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyValueError(pub String);

impl fmt::Debug for KeyValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
