//! Disk space: the reserve for the engine's own background writes.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{Result, StoreError};

/// Returns the free bytes on the disk that holds a path.
pub type Free = Box<dyn Fn(&Path) -> io::Result<u64> + Send + Sync>;

/// The space that a store leaves free on its disk.
///
/// After an engine has hit a full disk, it accepts no writes until it is reopened. So writes are refused
/// while less than the reserve is free, and accepted again once a quarter more is free.
pub struct Room {
    path: PathBuf,
    reserve: u64,
    free: Free,
    full: AtomicBool,
}

impl Room {
    /// Reserves `reserve` bytes on the disk that holds `path`; 0 reserves nothing.
    pub fn new(path: &Path, reserve: u64) -> Self {
        Self::with(path, reserve, Box::new(free_bytes))
    }

    /// Like [`Self::new`], with the given function to get the free space.
    pub fn with(path: &Path, reserve: u64, free: Free) -> Self {
        Self { path: path.to_owned(), reserve, free, full: AtomicBool::new(false) }
    }

    /// Returns the free bytes on the disk.
    pub fn free(&self) -> io::Result<u64> {
        (self.free)(&self.path)
    }

    /// Fails while there is no space for writes.
    pub fn check(&self) -> Result<()> {
        let more = if self.full.load(Relaxed) { self.reserve / 4 } else { 0 };
        let checked = self.has(self.reserve.saturating_add(more));
        self.full.store(checked.is_err(), Relaxed);
        checked
    }

    /// Fails if there is no space for a copy of `bytes` bytes in addition to the reserve.
    pub fn check_copy(&self, bytes: u64) -> Result<()> {
        self.has(self.reserve.saturating_add(bytes))
    }

    fn has(&self, wanted: u64) -> Result<()> {
        if self.reserve == 0 {
            return Ok(());
        }
        match (self.free)(&self.path) {
            Ok(free) if free < wanted => Err(StoreError::DiskFull { free, wanted }),
            // if the free space is unknown, the write itself fails on a full disk
            _ => Ok(()),
        }
    }
}

/// Free bytes available to an unprivileged process.
fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_tells_how_much_is_free() {
        let free = free_bytes(&std::env::temp_dir()).unwrap();
        assert!(free > 0 && free < 1 << 60, "{free}");
        assert!(Room::new(&std::env::temp_dir(), u64::MAX).check().is_err());
        assert_eq!(Room::new(Path::new("nowhere"), u64::MAX).check(), Ok(()));
        assert_eq!(Room::new(&std::env::temp_dir(), 0).check_copy(u64::MAX), Ok(()));
    }
}
