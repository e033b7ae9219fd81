//! Arguments that several commands share.

mod choice;
mod target;

pub(in crate::cli) use choice::choice;
pub use choice::{ContextFormat, ConversationFormat, Preset, Speaker};
pub use target::{Json, Remote, Target, required};
