//! Whether a path still leads to what was opened there.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::{files, key_value::KeyValueError};

/// A file or a directory that is kept open, and the path that it was opened by.
///
/// Open, it keeps its number for itself: nothing that is made under the same path has it too.
pub struct Place {
    path: PathBuf,
    _opened: File,
    id: (u64, u64),
}

impl Place {
    /// What `path` leads to.
    pub fn open(path: &Path) -> Result<Self, KeyValueError> {
        let failed = files::failed("open", path);
        let opened = File::open(path).map_err(&failed)?;
        Self::of(path, opened).map_err(failed)
    }

    /// What was opened by `path`.
    pub fn of(path: &Path, opened: File) -> io::Result<Self> {
        let id = id(&opened.metadata()?);
        Ok(Self { path: path.to_owned(), _opened: opened, id })
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails when the path leads to nothing, or to something else: what is written to what was opened is then
    /// out of reach.
    pub fn check(&self) -> Result<(), KeyValueError> {
        let found = files::present(fs::metadata(&self.path)).map_err(files::failed("look at", &self.path))?;
        let what = match found {
            Some(found) if id(&found) == self.id => return Ok(()),
            Some(_) => "is not what the store has opened",
            None => "is gone",
        };
        let path = self.path.display();
        Err(KeyValueError(format!("{path} {what}: the store's directory was removed, moved or replaced")))
    }
}

/// What tells files apart, whatever they are called.
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
        assert!(place.check().unwrap_err().0.contains("file is gone"));
        fs::write(&path, "one").unwrap();
        assert!(place.check().unwrap_err().0.contains("file is not what the store has opened"));
        fs::rename(directory.path().join("elsewhere"), &path).unwrap();
        assert_eq!(place.check(), Ok(()), "it is back");
    }
}
