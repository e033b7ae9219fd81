//! How utterances are quoted to a model: a line for each, with long ones shortened.

use std::fmt::Write;

use crate::domain::{Role, TokenCounter, ToolCall, shortening::trim};

/// The line before a quote from this conversation alone.
pub(super) const BEFORE: &str = "[Recalled from earlier in this conversation]\n";
/// The line after it.
pub(super) const AFTER: &str = "[End of what was recalled]";
/// A line is not shortened to fewer tokens.
pub(super) const LEAST_TOKENS: u32 = 48;
/// With fewer tokens left, nothing more is looked for.
const LEAST_LEFT: u32 = 8;
/// A match takes at most this part of the room.
const QUARTER: u32 = 4;
/// A match of up to this many tokens is quoted whole, if there is room.
const LEAST_WHOLE: u32 = 128;

/// The room that matches have in a quote. A long match would displace many short ones: a match of more than a
/// quarter of the room is shortened to half of that, and the shortened ones have a quarter together.
pub(super) struct Room {
    left: u32,
    /// The most tokens of a match that is quoted whole.
    whole: u32,
    /// What is left for shortened matches.
    excerpts: u32,
}

impl Room {
    /// A room of `tokens` tokens.
    pub(super) fn of(tokens: u32) -> Self {
        let whole = (tokens / QUARTER).max(LEAST_WHOLE);
        Self { left: tokens, whole, excerpts: whole }
    }

    /// Whether something more might fit.
    pub(super) fn is_open(&self) -> bool {
        self.left >= LEAST_LEFT
    }

    /// Whether something with this many tokens is too long, even if shortened.
    pub(super) fn refuses(&self, tokens: u32) -> bool {
        tokens > self.whole.min(self.left).saturating_add(LEAST_TOKENS) && self.excerpts < LEAST_TOKENS
    }

    /// Adds the lines of a match, whole or shortened, and the `beside` tokens with them; returns whether they
    /// fit.
    pub(super) fn take(&mut self, lines: &mut [&mut Line], beside: u32, counter: &dyn TokenCounter) -> bool {
        let Some(room) = self.left.checked_sub(beside) else { return false };
        let mut tokens = tokens_of(lines);
        if tokens > room.min(self.whole) {
            if !fit(lines, (self.whole / 2).min(self.excerpts).min(room), counter) {
                return false;
            }
            tokens = tokens_of(lines);
            self.excerpts = self.excerpts.saturating_sub(tokens);
        }
        self.left = room.saturating_sub(tokens);
        true
    }

    /// Takes this many tokens if they are left, and returns whether they were.
    pub(super) fn takes(&mut self, tokens: u32) -> bool {
        let left = self.left.checked_sub(tokens);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

fn tokens_of(lines: &[&mut Line]) -> u32 {
    lines.iter().map(|line| line.tokens).fold(0, u32::saturating_add)
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
    /// Its line in a quote, with the line end.
    pub(super) fn line(&self) -> Line {
        let speaker = match self.role {
            Role::System => "System",
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::Tool => "Result of",
        };
        let mut text = String::with_capacity(self.content.len() + 32);
        text.push_str(speaker);
        match self.name {
            Some(name) => {
                let _ = write!(text, " {name}:");
            }
            None if self.role == Role::Tool => text.push_str(" a tool:"),
            None => text.push(':'),
        }
        let content = self.content.trim_end();
        if !content.is_empty() {
            let _ = write!(text, " {content}");
        }
        for call in self.calls {
            let _ = write!(text, " [called {}({})]", call.name, call.arguments_json);
        }
        text.push('\n');
        Line { text, tokens: 0 }
    }
}

/// A line of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) tokens: u32,
}

impl Line {
    pub(super) fn counted(self, counter: &dyn TokenCounter) -> Self {
        Self { tokens: counter.count(&self.text), ..self }
    }

    /// Keeps its head and its tail, in at most `room` tokens if that is enough for a marker between them.
    pub(super) fn shorten(&mut self, room: u32, counter: &dyn TokenCounter) {
        if self.tokens > room {
            let (text, _) = trim(self.text.trim_end(), self.tokens, room.saturating_sub(1), counter);
            *self = Self { text: text + "\n", tokens: 0 }.counted(counter);
        }
    }
}

/// Shortens the longest of `lines` until they have at most `room` tokens together. Returns false if that
/// leaves too little of a line to be useful.
fn fit(lines: &mut [&mut Line], room: u32, counter: &dyn TokenCounter) -> bool {
    lines.sort_by_key(|line| line.tokens);
    let (mut left, mut count) = (room, lines.len() as u32);
    for line in lines {
        let share = left / count;
        if line.tokens > share && share < LEAST_TOKENS {
            return false;
        }
        line.shorten(share, counter);
        left = left.saturating_sub(line.tokens);
        count -= 1;
    }
    true
}
