//! Makes texts short, and puts them on one line.

use crate::domain::TokenCounter;

/// Clipped shorter than this, in bytes, a line is left out.
const LEAST_LINE_BYTES: usize = 12;

/// Appends `text` on one line: each run of white space and control characters becomes a
/// blank, none at the start. At most `limit` bytes; `…` shows where it was clipped.
pub(super) fn fold(text: &str, limit: usize, out: &mut String) {
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

/// A line of `head` and as much of `said` as fits into `budget` tokens, and its tokens; `None` where not even a few
/// words of it fit.
pub(super) fn fitted(
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
        // In proportion, and an eighth less, so that a few steps suffice.
        bytes = (bytes * budget as usize / tokens as usize).min(bytes - bytes / 8 - 1);
    }
    None
}

/// The first `limit` bytes of `text`, or a little less, at the edge of a character.
pub(super) fn clip(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The last `limit` bytes of `text`, or a little less, at the edge of a character.
pub(super) fn clip_tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

/// White space, or a control character.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
