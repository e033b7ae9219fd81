//! Checks whether a path still leads to the file that was opened there.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::files;
use crate::durable::key_value::KeyValueError;

/// An open file or directory, and the path it was opened by.
///
/// While it is open, its inode number is not given to a new file under the same path.
pub struct Place {
    path: PathBuf,
    opened: File,
    id: (u64, u64),
}

impl Place {
    /// Opens `path`.
    pub fn open(path: &Path) -> Result<Self, KeyValueError> {
        let failed = files::failed("open", path);
        let opened = File::open(path).map_err(&failed)?;
        Self::of(path, opened).map_err(failed)
    }

    /// Wraps a file that was opened by `path`.
    pub fn of(path: &Path, opened: File) -> io::Result<Self> {
        let id = id(&opened.metadata()?);
        Ok(Self { path: path.to_owned(), opened, id })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the path leads nowhere, or to something else: data written to the open file is then
    /// unreachable.
    pub fn check(&self) -> Result<(), KeyValueError> {
        let found = files::present(fs::metadata(&self.path)).map_err(files::failed("look at", &self.path))?;
        let what = match found {
            Some(found) if id(&found) == self.id => return Ok(()),
            Some(_) => "is not the one the store opened",
            None => "no longer exists",
        };
        let path = self.path.display();
        Err(KeyValueError(format!("{path} {what}: the store's directory was removed, moved or replaced")))
    }
}

impl Drop for Place {
    /// Releases the lock, if the file has one. Closing the file is not enough: a child process that is just
    /// being started shares every open file, and so the lock, until it runs its own program.
    fn drop(&mut self) {
        let _ = self.opened.unlock();
    }
}

/// Identifies a file, under any name.
fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_any_more_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "one").unwrap();
        let place = Place::open(&path).unwrap();
        assert_eq!(place.check(), Ok(()));
        fs::rename(&path, directory.path().join("elsewhere")).unwrap();
        assert!(place.check().unwrap_err().0.contains("file no longer exists"));
        fs::write(&path, "one").unwrap();
        assert!(place.check().unwrap_err().0.contains("file is not the one the store opened"));
        fs::rename(directory.path().join("elsewhere"), &path).unwrap();
        assert_eq!(place.check(), Ok(()), "it is back");
    }
}
