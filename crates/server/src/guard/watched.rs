//! A file that is read again when it changes.

use std::{io, path::PathBuf, sync::Arc};

use parking_lot::Mutex;

use super::fault::Fault;
use utterd_config::read_text;
use utterd_domain::limits::MAX_SETTINGS_BYTES;

/// Why the file that a setting names cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {}: {reason}", file.display())]
pub struct FileError {
    setting: &'static str,
    file: PathBuf,
    reason: String,
}

/// Parses the text of a file.
type Parse<T> = Box<dyn Fn(&str) -> Result<T, Fault> + Send + Sync>;

/// A file that is read again when it changes.
pub struct Watched<T> {
    setting: &'static str,
    file: PathBuf,
    parse: Parse<T>,
    /// The text that was read last, or why it could not be read.
    seen: Mutex<Seen>,
}

type Seen = Result<String, io::ErrorKind>;

impl<T> Watched<T> {
    /// Reads the file that `setting` names for the first time.
    pub fn open(
        setting: &'static str,
        file: PathBuf,
        parse: impl Fn(&str) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Result<(Self, Arc<T>), FileError> {
        let read = read_text(&file, MAX_SETTINGS_BYTES);
        let watched = Self { setting, file, parse: Box::new(parse), seen: Mutex::new(seen(&read)) };
        let content = watched.content(read)?;
        Ok((watched, content))
    }

    /// Reads the file again; returns its content if it has changed. The same fault is returned as an error only once.
    pub fn again(&self) -> Result<Option<Arc<T>>, FileError> {
        let read = read_text(&self.file, MAX_SETTINGS_BYTES);
        let now = seen(&read);
        match std::mem::replace(&mut *self.seen.lock(), now.clone()) == now {
            true => Ok(None),
            false => self.content(read).map(Some),
        }
    }

    fn content(&self, read: io::Result<String>) -> Result<Arc<T>, FileError> {
        let error = |reason| FileError { setting: self.setting, file: self.file.clone(), reason };
        let text = read.map_err(|unreadable| error(unreadable.to_string()))?;
        (self.parse)(&text).map(Arc::new).map_err(|fault| error(fault.to_string()))
    }
}

fn seen(read: &io::Result<String>) -> Seen {
    match read {
        Ok(text) => Ok(text.clone()),
        Err(error) => Err(error.kind()),
    }
}
