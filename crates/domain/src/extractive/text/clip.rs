//! Shortens texts and puts them on one line.

use crate::TokenCounter;

/// A line that would be clipped to less than this, in bytes, is left out.
const LEAST_LINE_BYTES: usize = 12;

/// Appends `text` as one line: each run of white space and control characters becomes one blank, with none at
/// the start. At most `limit` bytes, not counting the `…` that marks a cut.
pub(in crate::extractive) fn fold(text: &str, limit: usize, out: &mut String) {
    let start = out.len();
    for c in text.chars() {
        if out.len() - start + c.len_utf8() > limit {
            out.push('…');
            return;
        }
        match is_blank(c) {
            true if out.len() == start || out.ends_with(' ') => {}
            true => out.push(' '),
            false => out.push(c),
        }
    }
    out.truncate(start.max(out.trim_end().len()));
}

/// `text` as one line of at most `limit` bytes.
pub(in crate::extractive) fn folded(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit + '…'.len_utf8()));
    fold(text, limit, &mut out);
    out
}

/// A line of `head` and as much of `said` as fits into `budget` tokens, and its token count; `None` if not
/// even a few words fit.
pub(in crate::extractive) fn fitted(
    head: &str,
    said: &str,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Option<(String, u32)> {
    let mut bytes = said.len();
    while bytes >= LEAST_LINE_BYTES {
        let mut text = head.to_owned();
        fold(said, bytes, &mut text);
        text.push('\n');
        let tokens = counter.count(&text);
        if tokens <= budget {
            return Some((text, tokens));
        }
        // In proportion, and at least an eighth less, so that a few steps suffice.
        bytes = (bytes * budget as usize / tokens as usize).min(bytes - bytes / 8 - 1);
    }
    None
}

/// The first `limit` bytes of `text`, or slightly less, cut at a character boundary.
pub(in crate::extractive) fn clip(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The last `limit` bytes of `text`, or slightly less, cut at a character boundary.
pub(in crate::extractive) fn clip_tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

/// Whether `c` is white space or a control character.
pub(in crate::extractive) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
