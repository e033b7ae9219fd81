//! The parts of the program that a build can leave out.

use std::fmt;

/// A part of the program that a build can leave out; a cargo feature of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The files of fjall.
    Fjall,
    /// The files of sled.
    Sled,
    /// The page for browsers.
    Inspector,
    /// The tools for models.
    Mcp,
    /// Stores in PostgreSQL.
    Postgres,
    /// JWTs, and the names in clients' certificates.
    Jwt,
    /// Traces for OpenTelemetry.
    Otel,
    /// Models that write summaries, chat and embed.
    Llm,
}

impl Part {
    /// Whether this build has the part.
    pub const fn is_built(self) -> bool {
        match self {
            Self::Fjall => cfg!(feature = "fjall"),
            Self::Sled => cfg!(feature = "sled"),
            Self::Inspector => cfg!(feature = "inspector"),
            Self::Mcp => cfg!(feature = "mcp"),
            Self::Postgres => cfg!(feature = "postgres"),
            Self::Jwt => cfg!(feature = "jwt"),
            Self::Otel => cfg!(feature = "otel"),
            Self::Llm => cfg!(feature = "llm"),
        }
    }

    /// Returns the part that the setting `key` belongs to.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        const GROUPS: [(&str, Part); 6] = [
            ("database_", Part::Postgres),
            ("embedding_", Part::Llm),
            ("inspector", Part::Inspector),
            ("jwt_", Part::Jwt),
            ("llm", Part::Llm),
            ("traces_", Part::Otel),
        ];
        GROUPS.into_iter().find(|(group, _)| key.starts_with(group)).map(|(_, part)| part)
    }

    /// Succeeds if this build has the part.
    pub fn built(self) -> Result<(), Unbuilt> {
        if self.is_built() { Ok(()) } else { Err(Unbuilt(self)) }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
            Self::Inspector => "inspector",
            Self::Mcp => "mcp",
            Self::Postgres => "postgres",
            Self::Jwt => "jwt",
            Self::Otel => "otel",
            Self::Llm => "llm",
        }
    }
}

/// This build lacks a part; says how to build one that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unbuilt(pub Part);

impl fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "built without {}: cargo install --path . --features full", self.0.name())
    }
}
