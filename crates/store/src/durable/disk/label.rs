//! The label: the engine that keeps a store's files, and their format.

use std::{
    fmt,
    fs::{self, File},
    io,
    path::Path,
    str::FromStr,
};

use super::files;

/// The file's name in a store's directory.
pub(in crate::durable) const FILE: &str = "STORE";
/// The label's name until it is completely written.
pub(in crate::durable) const UNFINISHED: &str = "STORE.next";
/// The format this version writes, and the newest it can read: the layout of keys, values and files.
pub(in crate::durable) const FORMAT: u32 = 1;
const TITLE: &str = "utterd store";

/// The engine that keeps a store's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// fjall, a log-structured merge tree; `durable` means this one.
    Fjall,
    /// sled, a log of pages.
    Sled,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [Self; 2] = [Self::Fjall, Self::Sled];

    /// The engine's name in configuration, files and reports.
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

/// A text that is not an engine's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a durable backend; accepted: fjall (also durable) and sled")]
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

/// The content of a store's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::durable) struct Label {
    /// The engine's name; possibly unknown to this version.
    pub(in crate::durable) engine: String,
    pub(in crate::durable) format: u32,
}

impl Label {
    /// Returns the label of a new store kept by `engine`.
    pub(in crate::durable) fn new(engine: EngineKind) -> Self {
        Self { engine: engine.name().to_owned(), format: FORMAT }
    }

    /// Reads the label in `directory`; `None` if there is none. An invalid label is
    /// [`io::ErrorKind::InvalidData`], and the error text continues a sentence about the file.
    pub(in crate::durable) fn read(directory: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read(directory.join(FILE)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let label = Self::parse(&text).ok_or_else(|| {
            let problem = format!("is not a store's label: {text:?}");
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

    /// Writes the label atomically and syncs it to disk.
    pub(in crate::durable) fn write(&self, directory: &Path) -> io::Result<()> {
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
