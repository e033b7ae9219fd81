//! Where conversations are kept, and how their files are named on the command line.

use std::{fmt, path::PathBuf, str::FromStr};

/// Where conversations are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// In this process, until it ends: `in-memory`, also `memory`.
    #[default]
    Memory,
    /// In files of one of the engines.
    Durable(DurableEngine),
    /// In a PostgreSQL database, which several servers may share: `postgres`.
    Postgres,
}

/// The engine that keeps the files of a durable backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableEngine {
    /// `fjall`, also `durable`.
    Fjall,
    /// `sled`.
    Sled,
}

impl Backend {
    /// The words that name a backend, for messages to people.
    pub const WORDS: &str = "in-memory (also written memory), fjall (also written durable), sled or postgres";

    /// The backend that `word` names.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "in-memory" | "memory" => Some(Self::Memory),
            "fjall" | "durable" => Some(Self::Durable(DurableEngine::Fjall)),
            "sled" => Some(Self::Durable(DurableEngine::Sled)),
            "postgres" => Some(Self::Postgres),
            _ => None,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "in-memory",
            Self::Durable(engine) => engine.name(),
            Self::Postgres => "postgres",
        }
    }
}

impl DurableEngine {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        }
    }
}

/// The files of a durable store: `fjall:/var/lib/utterd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The engine that keeps the files.
    pub engine: DurableEngine,
    /// Where they are.
    pub directory: PathBuf,
}

/// What is accepted as a [`Place`].
const PLACE: &str =
    "must be fjall or sled, a colon and a directory, such as fjall:utterd-data or sled:/var/lib/utterd";

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((word, directory)) = text.split_once(':') else {
            return Err(format!("it does not say which backend the files belong to; {PLACE}"));
        };
        let engine = match Backend::named(word) {
            Some(Backend::Durable(engine)) => engine,
            Some(Backend::Memory) => return Err(format!("the in-memory backend keeps no files; {PLACE}")),
            Some(Backend::Postgres) => return Err(format!("the postgres backend keeps no files; {PLACE}")),
            None => return Err(format!("there is no backend `{word}`; {PLACE}")),
        };
        match directory {
            "" => Err(format!("it names no directory; {PLACE}")),
            directory => Ok(Self { engine, directory: directory.into() }),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.engine.name(), self.directory.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_durable_backend_and_a_directory() {
        for (text, engine, directory, shown) in [
            ("fjall:data", DurableEngine::Fjall, "data", "fjall:data"),
            ("durable:/var/lib/utterd", DurableEngine::Fjall, "/var/lib/utterd", "fjall:/var/lib/utterd"),
            ("sled:a:b", DurableEngine::Sled, "a:b", "sled:a:b"),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!(place, Place { engine, directory: directory.into() });
            assert_eq!(place.to_string(), shown);
        }
        for (wrong, why) in [
            ("data", "does not say which backend"),
            ("rocks:data", "there is no backend `rocks`"),
            ("memory:data", "the in-memory backend keeps no files"),
            ("fjall:", "it names no directory"),
            ("", "does not say which backend"),
        ] {
            let error = wrong.parse::<Place>().unwrap_err();
            assert!(error.starts_with(why) || error.contains(why), "{error}");
            assert!(error.contains("such as fjall:utterd-data"), "{error}");
        }
    }
}
