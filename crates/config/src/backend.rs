//! The backends that store conversations.

use super::{
    Part,
    word::{Word, Words},
};

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

impl Word for Backend {
    const WORDS: Words<Self> = &[
        (Self::Memory, &["in-memory", "memory"]),
        (Self::Durable(DurableEngine::Fjall), &["fjall", "durable"]),
        (Self::Durable(DurableEngine::Sled), &["sled"]),
        (Self::Postgres, &["postgres"]),
    ];
}

impl Backend {
    /// Returns the part of the program that the backend needs.
    pub fn part(self) -> Option<Part> {
        match self {
            Self::Memory => None,
            Self::Durable(DurableEngine::Fjall) => Some(Part::Fjall),
            Self::Durable(DurableEngine::Sled) => Some(Part::Sled),
            Self::Postgres => Some(Part::Postgres),
        }
    }
}
