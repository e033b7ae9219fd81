//! The problems of a configuration.

use std::{fmt, path::PathBuf};

use super::Origin;

/// Everything that is wrong with a configuration; at least one problem.
#[derive(Debug, thiserror::Error)]
#[error("the configuration is not accepted:\n{}", lines(.0))]
pub struct ConfigError(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A key or variable that does not exist.
    Unknown {
        /// The word given, as it may be [shown](super::shown).
        word: String,
        /// Where it was given.
        origin: Origin,
        /// The existing word that is spelled most like it.
        nearest: &'static str,
    },
    /// A value that is not accepted.
    Value {
        /// The key.
        key: &'static str,
        /// The value given, as it may be [shown](super::shown).
        value: String,
        /// Where it was given.
        origin: Origin,
        /// The accepted values.
        accepted: String,
    },
    /// A file that cannot be read, or is not TOML.
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { word, origin: origin @ Origin::File { .. }, nearest } => {
                write!(f, "{origin}: there is no key `{word}`; the nearest is `{nearest}`")
            }
            Self::Unknown { word, nearest, .. } => {
                write!(f, "there is no setting {word}, so it is ignored; the nearest is {nearest}")
            }
            Self::Value { key, value, origin, accepted } => {
                let value = value.replace(char::is_control, "\u{fffd}");
                write!(f, "{origin}: {key} is `{value}`; accepted: {accepted}")
            }
            Self::File { path, reason } => write!(f, "{}: {reason}", path.display()),
        }
    }
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(|problem| format!("  {problem}")).collect();
    lines.join("\n")
}
