//! The parts of the program that a build can leave out.

use std::fmt;

/// Defines the parts, each with its cargo feature.
macro_rules! parts {
    ($($(#[$about:meta])* $part:ident = $feature:literal,)*) => {
        /// A part of the program that a build can leave out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part {
            $($(#[$about])* $part,)*
        }

        impl Part {
            /// Whether this build has the part.
            pub const fn is_built(self) -> bool {
                match self {
                    $(Self::$part => cfg!(feature = $feature),)*
                }
            }

            fn feature(self) -> &'static str {
                match self {
                    $(Self::$part => $feature,)*
                }
            }
        }
    };
}

parts! {
    /// The files of fjall.
    Fjall = "fjall",
    /// The files of sled.
    Sled = "sled",
    /// The page for browsers.
    Inspector = "inspector",
    /// The tools for models.
    Mcp = "mcp",
    /// Stores in PostgreSQL.
    Postgres = "postgres",
    /// JWTs, and the names in clients' certificates.
    Jwt = "jwt",
    /// Traces for OpenTelemetry.
    Otel = "otel",
    /// Models that write summaries, chat and embed.
    Llm = "llm",
}

impl Part {
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
}

/// This build lacks a part; says how to build one that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unbuilt(pub Part);

impl fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "built without {}: cargo install --path . --features full", self.0.feature())
    }
}
