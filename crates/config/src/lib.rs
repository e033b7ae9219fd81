//! Settings, and where each value came from.
//!
//! A value is taken from a flag, else from a variable `UTTERD_*`, else from a TOML file, else
//! from the preset, else it is the default. A key is the same word everywhere: `buffer_size`
//! in the file, `--buffer-size` as a flag, `UTTERD_BUFFER_SIZE` as a variable.

mod backend;
mod bounded;
mod checks;
mod database;
mod error;
mod exposure;
mod file;
mod keys;
mod listen;
mod llm;
mod origin;
mod part;
mod place;
mod secret;
mod settings;
mod share;
mod sources;
#[cfg(test)]
mod tests;
mod value;
mod word;

pub use backend::{Backend, DurableEngine};
pub use bounded::{read_file, read_text};
pub use database::DatabaseUrl;
pub use error::{ConfigError, Problem};
pub use keys::{INSPECTOR, KEYS, Key};
pub use listen::{Listen, socket_path_fault};
pub use llm::Llm;
pub use origin::Origin;
pub use part::{Part, Unbuilt};
pub use place::{Database, Files, Place};
pub use secret::{HIDDEN, shown};
pub use settings::{Flush, LogFormat, Preset, Settings};
pub use share::Share;
pub use sources::{Effective, Sources};
