//! Anthropic's messages.
//!
//! A user message with results becomes one tool utterance per result, and one user utterance for the rest. On
//! the way out, neighbours on the same side are joined into one message, unless the second one began a
//! message when it came in.

mod read;
mod write;

pub use read::{PROVIDER, left_of_message, name_calls, read, side};
pub use write::{export, message};
