//! A file that is read again when it changes.

use std::{io, path::PathBuf, sync::Arc};

use parking_lot::Mutex;

use super::fault::Fault;
use utterd_config::read_text;
use utterd_domain::limits::MAX_SETTINGS_BYTES;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The content is invalid.
    #[error("{}: {fault}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        fault: Fault,
    },
}

/// Parses the text of a file.
type Parse<T> = Box<dyn Fn(&str) -> Result<T, Fault> + Send + Sync>;

/// A file that is read again when it changes.
pub struct Watched<T> {
    file: PathBuf,
    parse: Parse<T>,
    /// The text that was read last, or why it could not be read.
    seen: Mutex<Result<String, io::ErrorKind>>,
}

impl<T> Watched<T> {
    /// Reads a file for the first time.
    pub fn open(
        file: PathBuf,
        parse: impl Fn(&str) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Result<(Self, Arc<T>), FileError> {
        let text = read_text(&file, MAX_SETTINGS_BYTES)
            .map_err(|error| FileError::Unreadable { file: file.clone(), error })?;
        let content = parse(&text).map_err(|fault| FileError::Wrong { file: file.clone(), fault })?;
        Ok((Self { file, parse: Box::new(parse), seen: Mutex::new(Ok(text)) }, Arc::new(content)))
    }

    /// Reads the file again; returns its content if it has changed. The same fault is returned as an error only once.
    pub fn again(&self) -> Result<Option<Arc<T>>, FileError> {
        let read = read_text(&self.file, MAX_SETTINGS_BYTES);
        let now = read.as_ref().map(String::clone).map_err(io::Error::kind);
        if std::mem::replace(&mut *self.seen.lock(), now.clone()) == now {
            return Ok(None);
        }
        let file = self.file.clone();
        let text = read.map_err(|error| FileError::Unreadable { file: file.clone(), error })?;
        (self.parse)(&text).map(|it| Some(Arc::new(it))).map_err(|fault| FileError::Wrong { file, fault })
    }
}
