//! The label: which engine keeps a store's files, and in which format.

use std::{
    fmt,
    fs::{self, File},
    io,
    path::Path,
    str::FromStr,
};

use super::files;

/// The file's name in a store's directory.
pub(super) const FILE: &str = "STORE";
/// The name that it has until it is written.
pub(super) const UNFINISHED: &str = "STORE.next";
/// The format that is written: how keys, values and files are laid out.
///
/// - 1: the first.
/// - 2: every conversation is in the lists of its namespace and in those by update; ids have up to 256 bytes;
///   conversations have state.
pub(super) const FORMAT: u32 = 2;
/// From this format on every conversation is in all lists.
pub(super) const LISTED: u32 = 2;
const TITLE: &str = "utterd store";

/// Which engine keeps the files of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// fjall, a log-structured merge tree: what `durable` means.
    Fjall,
    /// sled, a log of pages.
    Sled,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [Self; 2] = [Self::Fjall, Self::Sled];

    /// Its name in configuration, in files and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a durable backend; accepted are fjall (also durable) and sled")]
pub struct UnknownEngine;

impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, UnknownEngine> {
        match text {
            "fjall" | "durable" => Ok(Self::Fjall),
            "sled" => Ok(Self::Sled),
            _ => Err(UnknownEngine),
        }
    }
}

/// What a store's directory says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// The engine's name; perhaps one that is not known.
    pub(super) engine: String,
    pub(super) format: u32,
}

impl Label {
    /// The label of a store that `engine` is about to keep.
    pub(super) fn new(engine: EngineKind) -> Self {
        Self { engine: engine.name().to_owned(), format: FORMAT }
    }

    /// Reads the label in `directory`; `None` when there is none. What is no label is
    /// [`io::ErrorKind::InvalidData`], and the error goes on with a sentence about the file.
    pub(super) fn read(directory: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read(directory.join(FILE)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let label = Self::parse(&text).ok_or_else(|| {
            let problem = format!("does not tell of a store: {text:?}");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        Ok(Some(label))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        lines.next().filter(|title| *title == TITLE)?;
        let engine = lines.next()?.strip_prefix("engine: ")?.to_owned();
        let format = lines.next()?.strip_prefix("format: ")?.parse().ok().filter(|format| *format > 0)?;
        Some(Self { engine, format })
    }

    /// Writes the label, whole or not at all, and brings it to the disk.
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        let content = self.to_string();
        files::replace(&directory.join(FILE), &directory.join(UNFINISHED), content.as_bytes())?;
        File::open(directory)?.sync_all()
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TITLE}\nengine: {}\nformat: {}\n", self.engine, self.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Label::read(directory.path()).unwrap(), None);
        for engine in EngineKind::ALL {
            let label = Label::new(engine);
            label.write(directory.path()).unwrap();
            assert_eq!(Label::read(directory.path()).unwrap(), Some(label));
            assert_eq!(engine.name().parse(), Ok(engine));
        }
    }

    #[test]
    fn what_is_no_label_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        for text in [
            &b""[..],
            b"utterd store\n",
            b"utterd store\nengine: fjall\nformat: x\n",
            b"utterd store\nengine: fjall\nformat: 0\n",
            b"a\nengine: b\nformat: 1\n",
            b"utterd store\nengine: \xff\xff\nformat: \xff\n",
        ] {
            fs::write(directory.path().join(FILE), text).unwrap();
            let error = Label::read(directory.path()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
    }
}
