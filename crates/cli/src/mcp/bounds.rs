//! How much an answer holds at most: a model reads all of it.

/// Tokens of a context, unless the call says how many.
pub const CONTEXT_TOKENS: i32 = 9_064;
/// Tokens of a summary, unless the call says how many.
pub const SUMMARY_TOKENS: i32 = 1_000;
/// Bytes of messages: some 16,000 tokens, which the clients of models accept.
pub const ANSWER_BYTES: usize = 64 << 10;
/// Messages in a list that names them without their content.
pub const LISTED: usize = 500;

/// Cuts a text to this many bytes, or a few less; returns whether something is cut off.
pub fn cut(text: &mut String, bytes: usize) -> bool {
    let is_long = text.len() > bytes;
    text.truncate(text.floor_char_boundary(bytes));
    is_long
}
