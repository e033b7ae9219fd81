//! How a store is opened.

use std::time::Duration;

use crate::domain::limits::DEFAULT_DISK_RESERVE;

/// What an engine keeps of its files in memory, unless told otherwise.
const CACHE_BYTES: u64 = 64 << 20;

/// When a commit is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Once it is on the disk: it survives a loss of power.
    Each,
    /// Once the operating system has it: it survives the end of the process. The disk has it so
    /// long after at most; a loss of power loses what came since.
    Interval(Duration),
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When a commit is answered.
    pub flush: Flush,
    /// About how many bytes the engine keeps of its files in memory.
    pub cache_bytes: u64,
    /// Bytes that are left free on the disk: while fewer are, writes are refused. 0 leaves none.
    pub reserve_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { flush: Flush::Each, cache_bytes: CACHE_BYTES, reserve_bytes: DEFAULT_DISK_RESERVE }
    }
}
