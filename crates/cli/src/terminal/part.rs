//! A file under construction, which gets its name only once it is complete.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Stdout, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::read::about;
use utterd_telemetry::terminal::{Escaping, stdout};

/// A file under construction. It is removed on drop, unless it was finished.
pub struct Part {
    /// Its content.
    pub file: File,
    /// Where it is until it is finished.
    pub at: PathBuf,
    /// Where it will be.
    pub path: PathBuf,
}

impl Part {
    /// Creates the file that will be at `path`, with these permissions at most.
    pub fn create(path: &Path, mode: u32) -> io::Result<Self> {
        let mut at = path.as_os_str().to_owned();
        at.push(".part");
        let at = PathBuf::from(at);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&at);
        let file = file.map_err(about(path))?;
        Ok(Self { file, at, path: path.to_owned() })
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

/// Where the output of a command goes: a file, or else stdout.
pub struct Sink {
    /// The file.
    pub part: Option<Part>,
    stdout: Escaping<Stdout>,
    /// The bytes written so far.
    pub written: u64,
}

impl Sink {
    /// Begins a file with these permissions at most, if there is a path.
    pub fn open(path: Option<&Path>, mode: u32) -> io::Result<Self> {
        let part = path.map(|path| Part::create(path, mode)).transpose()?;
        Ok(Self { part, stdout: stdout(), written: 0 })
    }

    /// Writes more.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        match &mut self.part {
            Some(part) => part.file.write_all(bytes).map_err(about(&part.at)),
            None => self.stdout.write_all(bytes),
        }
    }
}
