//! Files that are read again when they change.

use std::{fmt::Display, io, mem, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

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

/// The settings that name files, and the files.
type Files = Vec<(&'static str, PathBuf)>;

/// Makes the content of the texts of files. The error says which file is at fault, and why.
type Parse<T> = Box<dyn Fn(&[String]) -> Result<T, (usize, String)> + Send + Sync>;

/// Files that are read again when they change.
pub struct Watched<T> {
    files: Files,
    parse: Parse<T>,
    /// A digest of the texts that were read last, or why they could not be read.
    seen: Mutex<Seen>,
    content: Mutex<Arc<T>>,
}

type Seen = Result<[u8; 32], io::ErrorKind>;
type Read = Result<Vec<String>, (usize, io::Error)>;

impl<T> Watched<T> {
    /// Reads files for the first time.
    pub fn open(
        files: Files,
        parse: impl Fn(&[String]) -> Result<T, (usize, String)> + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let read = read(&files);
        let seen = Mutex::new(seen(&read));
        let content = Mutex::new(Arc::new(content(&files, &parse, read)?));
        Ok(Self { files, parse: Box::new(parse), seen, content })
    }

    /// Reads the only file for the first time.
    pub fn one<E: Display>(
        setting: &'static str,
        file: PathBuf,
        parse: impl Fn(&str) -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let parse = move |texts: &[String]| parse(&texts.concat()).map_err(|error| (0, error.to_string()));
        Self::open(vec![(setting, file)], parse)
    }

    /// Returns the content of the files.
    pub fn content(&self) -> Arc<T> {
        self.content.lock().clone()
    }

    /// Reads the files again; if their content has changed, returns the one before. The same fault is returned as an
    /// error only once, and the content stays.
    pub fn again(&self) -> Result<Option<Arc<T>>, FileError> {
        let read = read(&self.files);
        let now = seen(&read);
        if mem::replace(&mut *self.seen.lock(), now) == now {
            return Ok(None);
        }
        let content = content(&self.files, &self.parse, read)?;
        Ok(Some(mem::replace(&mut *self.content.lock(), Arc::new(content))))
    }

    /// Whether the content has changed now that the files are read again. Logs that they cannot be used.
    pub fn has_changed(&self) -> bool {
        match self.again() {
            Ok(before) => before.is_some(),
            Err(error) => {
                error.log();
                false
            }
        }
    }
}

impl FileError {
    /// Logs that a file that has changed cannot be used.
    pub fn log(&self) {
        tracing::warn!("{self}; its previous content stays in force");
    }
}

fn read(files: &Files) -> Read {
    let read = |(at, (_, file)): (usize, &(_, PathBuf))| {
        read_text(file, MAX_SETTINGS_BYTES).map_err(|error| (at, error))
    };
    files.iter().enumerate().map(read).collect()
}

/// Identifies what was read without keeping secrets.
fn seen(read: &Read) -> Seen {
    let texts = read.as_ref().map_err(|(_, error)| error.kind())?;
    let add =
        |digest: Sha256, text: &String| digest.chain_update(text.len().to_be_bytes()).chain_update(text);
    Ok(texts.iter().fold(Sha256::new(), add).finalize().into())
}

fn content<T>(
    files: &Files,
    parse: impl Fn(&[String]) -> Result<T, (usize, String)>,
    read: Read,
) -> Result<T, FileError> {
    let texts = read.map_err(|(at, error)| (at, error.to_string()));
    texts.and_then(|texts| parse(&texts)).map_err(|(at, reason)| {
        let (setting, file) = files[at].clone();
        FileError { setting, file, reason }
    })
}
