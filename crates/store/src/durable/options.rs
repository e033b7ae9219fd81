//! How a store is opened.

use std::time::Duration;

use utterd_domain::limits::DEFAULT_DISK_RESERVE;

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Once the commit is on disk: it survives a power loss.
    Each,
    /// Once the operating system has the commit: it survives the end of the process. It reaches the disk
    /// within this interval; a power loss loses the commits since the last flush.
    Interval(Duration),
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When a commit is acknowledged.
    pub flush: Flush,
    /// Bytes to leave free on the disk: with less free space, writes are refused. 0 reserves nothing.
    pub reserve_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { flush: Flush::Each, reserve_bytes: DEFAULT_DISK_RESERVE }
    }
}
