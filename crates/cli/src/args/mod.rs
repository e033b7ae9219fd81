//! Arguments that several commands share.

mod choice;
mod target;

pub(crate) use choice::choice;
pub use choice::{ContextFormat, ConversationFormat, Preset, Speaker};
pub use target::{Json, Remote, Target};
