//! The backends that store conversations.

use super::Part;

/// The backend that stores conversations.
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

    /// Returns the backend that `word` names.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "in-memory" | "memory" => Some(Self::Memory),
            "fjall" | "durable" => Some(Self::Durable(DurableEngine::Fjall)),
            "sled" => Some(Self::Durable(DurableEngine::Sled)),
            "postgres" => Some(Self::Postgres),
            _ => None,
        }
    }

    /// Returns the part of the program that the backend needs.
    pub fn part(self) -> Option<Part> {
        match self {
            Self::Memory => None,
            Self::Durable(engine) => Some(engine.part()),
            Self::Postgres => Some(Part::Postgres),
        }
    }

    /// Returns the word that names the backend.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "in-memory",
            Self::Durable(engine) => engine.name(),
            Self::Postgres => "postgres",
        }
    }
}

impl DurableEngine {
    /// Returns the part of the program that the engine is.
    pub fn part(self) -> Part {
        match self {
            Self::Fjall => Part::Fjall,
            Self::Sled => Part::Sled,
        }
    }

    /// Returns the word that names the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        }
    }
}
