//! Arguments that several commands share.

mod context_format;
mod format;
mod preset;
mod speaker;
mod target;

pub use context_format::ContextFormat;
pub use format::ConversationFormat;
pub use preset::Preset;
pub use speaker::Speaker;
pub use target::{Json, Remote, Target, required};
