//! What cannot be accepted is refused with the field and what is accepted; nothing is stored.

mod conversation;
mod memorize;
mod memory;
mod page_tokens;

/// A change of a request, the reason, the field blamed, and what the message says.
pub type Case<R> = (R, &'static str, &'static str, &'static str);
