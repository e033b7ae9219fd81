//! Messages one by one, as callers of a provider's API have them: each comes back byte for byte.
//!
//! A message becomes one utterance. One of Anthropic's that holds results becomes one for each, and one for
//! what else it says: all but the first are marked as going on with it.
//!
//! What the message says is written once, in the utterance. Beside it stands what is needed to write the same
//! bytes again (see `raw.rs`), as long as the utterance says what it said then; afterwards, and in another format,
//! the message is written from what the utterance says.

mod bytes;
mod raw;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Incoming, read};
pub use write::{Written, write};

use crate::formats::Format;

/// The formats that have messages.
const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];
