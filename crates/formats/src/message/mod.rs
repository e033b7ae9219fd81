//! Single messages, in the form that callers of a provider's API have them: each comes back byte for byte.
//!
//! A message becomes one utterance. An Anthropic message with results becomes one for each result, and one
//! for the rest: all but the first are marked as continuing it.
//!
//! The text of the message is stored once, in the utterance. Next to it is whatever else is needed to write
//! the same bytes again (see `raw.rs`), valid as long as the utterance still says the same. Otherwise, and in
//! another format, the message is written from the utterance.

mod raw;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use raw::has_halves;
pub use read::{Incoming, read};
pub use write::{Written, write};
