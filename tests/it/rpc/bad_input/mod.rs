//! Invalid requests are refused with the field and what is accepted; nothing is stored.

mod conversation;
mod memorize;
mod memory;
mod page_tokens;
mod staleness;

/// A changed request, the reason, the field blamed, and the message.
pub type Case<R> = (R, &'static str, &'static str, &'static str);
