//! Room on the disk: what is left free for what an engine writes behind the replies.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::store::StoreError;

/// Tells how many bytes are free where a path is.
pub type Free = Box<dyn Fn(&Path) -> io::Result<u64> + Send + Sync>;

/// The room that a store leaves on its disk.
///
/// An engine that meets a full disk takes no more writes until it is opened anew. So writes are refused while less
/// than the reserve is free; once a quarter more is, they are taken again.
pub struct Room {
    path: PathBuf,
    reserve: u64,
    free: Free,
    full: AtomicBool,
}

impl Room {
    /// Leaves `reserve` bytes where `path` is; 0 leaves none.
    pub fn new(path: &Path, reserve: u64) -> Self {
        Self::with(path, reserve, Box::new(free_bytes))
    }

    /// The same, with what tells how much is free.
    pub fn with(path: &Path, reserve: u64, free: Free) -> Self {
        Self { path: path.to_owned(), reserve, free, full: AtomicBool::new(false) }
    }

    /// Fails while there is no room for writes.
    pub fn check(&self) -> Result<(), StoreError> {
        let more = if self.full.load(Relaxed) { self.reserve / 4 } else { 0 };
        let checked = self.has(self.reserve.saturating_add(more));
        self.full.store(checked.is_err(), Relaxed);
        checked
    }

    /// Fails when there is no room for a copy of so many bytes beside the reserve.
    pub fn check_copy(&self, bytes: u64) -> Result<(), StoreError> {
        self.has(self.reserve.saturating_add(bytes))
    }

    fn has(&self, wanted: u64) -> Result<(), StoreError> {
        if self.reserve == 0 {
            return Ok(());
        }
        match (self.free)(&self.path) {
            Ok(free) if free < wanted => Err(StoreError::DiskFull { free, wanted }),
            // what cannot be told is left to the write
            _ => Ok(()),
        }
    }
}

/// Bytes that a process without privileges may still write.
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
