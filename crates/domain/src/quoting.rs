//! How utterances are quoted to a model: a line for each, with passages of long ones.

use std::{fmt::Write, ops::Range};

use crate::{Role, TokenCounter, ToolCall, passage::passages, shortening::trim};

/// The line before a quote from this conversation alone.
pub(super) const BEFORE: &str = "[Recalled from earlier in this conversation]\n";
/// The line after it.
pub(super) const AFTER: &str = "[End of what was recalled]";
/// The most tokens quoted of an utterance: the least of these unless there is room for more of all of them.
const PASSAGE_TOKENS: [u32; 4] = [120, 360, 1_080, u32::MAX];
/// The most tokens quoted of an utterance in the smallest quotes.
const SHORT_TOKENS: u32 = 32;
/// A small quote has room for about this many.
const UTTERANCES: u32 = 30;
/// The least tokens quoted of each of the other utterances in a long exchange.
const COMPANION_TOKENS: u32 = 8;
/// Marks what is left out of an utterance.
const GAP: &str = "[…]";

/// Chooses what to quote. `chosen` returns what has room if this many tokens are quoted of an utterance, best first
/// without gaps, and whether that is everything. So a larger room quotes all that a smaller one does, and more of each.
pub(super) fn widest<T>(room: u32, mut chosen: impl FnMut(u32) -> (Vec<T>, bool)) -> Vec<T> {
    let least = least_tokens(room);
    let (mut widest, mut all) = chosen(least);
    if widest.is_empty() && !all {
        (widest, _) = chosen(SHORT_TOKENS);
        widest.truncate(1);
    }
    for tokens in PASSAGE_TOKENS.into_iter().filter(|tokens| *tokens > least) {
        if !all {
            break;
        }
        let wider = chosen(tokens);
        all = wider.1;
        widest = if all { wider.0 } else { widest };
    }
    widest
}

/// What is quoted at least of an utterance in a quote of `room` tokens: in a small one less, so that it holds many.
pub(super) fn least_tokens(room: u32) -> u32 {
    (room / UTTERANCES).clamp(SHORT_TOKENS, PASSAGE_TOKENS[0])
}

/// The most tokens quoted of each other utterance in an exchange of `count`, if this many are quoted of the one that
/// was found.
pub(super) fn companion_tokens(most: u32, count: usize) -> u32 {
    match u32::try_from(count).unwrap_or(u32::MAX) {
        0..=3 => most,
        count => (most / count).saturating_mul(3).clamp(COMPANION_TOKENS, most),
    }
}

/// An utterance to quote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) role: Role,
    /// The speaker's name; for a result, the tool's.
    pub(super) name: Option<&'a str>,
    pub(super) content: &'a str,
    pub(super) calls: &'a [ToolCall],
}

impl Said<'_> {
    /// Its line in a quote, with the line end: of its content, and of each call's arguments, at most `most` tokens.
    /// `matched` are the byte ranges of the content that say why it is quoted.
    pub(super) fn line(&self, matched: &[Range<usize>], most: u32, counter: &dyn TokenCounter) -> Line {
        let speaker = match self.role {
            Role::System => "System",
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::Tool => "Result of",
        };
        let mut text = String::with_capacity(self.content.len().min(most as usize * 8) + 32);
        text.push_str(speaker);
        match self.name {
            Some(name) => {
                let _ = write!(text, " {name}:");
            }
            None if self.role == Role::Tool => text.push_str(" a tool:"),
            None => text.push(':'),
        }
        let quoted = quote(self.content.trim_end(), matched, most, counter, &mut text);
        for call in self.calls {
            let tokens = counter.count(&call.arguments_json);
            let short = (tokens > most).then(|| trim(&call.arguments_json, tokens, most, counter).0);
            let _ =
                write!(text, " [called {}({})]", call.name, short.as_deref().unwrap_or(&call.arguments_json));
        }
        text.push('\n');
        Line { tokens: counter.count(&text), text, quoted }
    }
}

/// The tokens of `lines`.
pub(super) fn tokens_of<'a>(lines: impl Iterator<Item = &'a Line>) -> u32 {
    lines.map(|line| line.tokens).fold(0, u32::saturating_add)
}

/// Appends `content`, or passages of it if it has more than `most` tokens; returns the byte ranges of these.
fn quote(
    content: &str,
    matched: &[Range<usize>],
    most: u32,
    counter: &dyn TokenCounter,
    text: &mut String,
) -> Vec<Range<usize>> {
    if content.is_empty() {
        return Vec::new();
    }
    // a token has a byte or more
    if content.len() <= most as usize || counter.count(content) <= most {
        let _ = write!(text, " {content}");
        return Vec::new();
    }
    let quoted = passages(content, matched, most, counter);
    let mut end = 0;
    for range in &quoted {
        if range.start > end {
            let _ = write!(text, " {GAP}");
        }
        let _ = write!(text, " {}", content[range.clone()].trim());
        end = range.end;
    }
    if end < content.len() {
        let _ = write!(text, " {GAP}");
    }
    quoted
}

/// A line of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) tokens: u32,
    /// The byte ranges of the content that it quotes; none if it quotes all of it.
    pub(super) quoted: Vec<Range<usize>>,
}
