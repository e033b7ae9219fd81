//! A file under construction, which gets its name only once it is complete.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::read::about;

/// A file under construction. It is removed on drop, unless it was finished.
pub struct Part {
    /// Where it is until it is finished.
    pub at: PathBuf,
    /// Where it will be.
    pub path: PathBuf,
}

impl Part {
    /// Creates the file that will be at `path`, with these permissions at most.
    pub fn create(path: &Path, mode: u32) -> io::Result<(Self, File)> {
        let mut at = path.as_os_str().to_owned();
        at.push(".part");
        let at = PathBuf::from(at);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&at);
        let file = file.map_err(about(path))?;
        Ok((Self { at, path: path.to_owned() }, file))
    }

    /// Gives the file its name.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.at, &self.path).map_err(about(&self.path))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // the remains of what failed are of no use; a finished file is not there any more
        let _ = fs::remove_file(&self.at);
    }
}
