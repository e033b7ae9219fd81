//! How what was said is quoted to a model: a line for each utterance, and how long ones are shortened.

use std::fmt::Write;

use crate::domain::{Role, TokenCounter, ToolCall, shortening::trim};

/// A line is not shortened to fewer tokens.
pub(super) const LEAST_TOKENS: u32 = 48;

/// Something said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) role: Role,
    /// Who says it; of a result, the tool.
    pub(super) name: Option<&'a str>,
    pub(super) content: &'a str,
    pub(super) calls: &'a [ToolCall],
}

impl Said<'_> {
    /// What a quote says of it, with the end of its line.
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

    /// Its head and its tail, in at most `room` tokens where that is enough for a marker between them.
    pub(super) fn shorten(&mut self, room: u32, counter: &dyn TokenCounter) {
        if self.tokens > room {
            let (text, _) = trim(self.text.trim_end(), self.tokens, room.saturating_sub(1), counter);
            *self = Self { text: text + "\n", tokens: 0 }.counted(counter);
        }
    }
}

/// Shortens the longest of `lines` until they have at most `room` tokens together. False where that leaves too
/// little of one to tell anything.
pub(super) fn fit(lines: &mut [Line], room: u32, counter: &dyn TokenCounter) -> bool {
    let mut order: Vec<&mut Line> = lines.iter_mut().collect();
    order.sort_by_key(|line| line.tokens);
    let (mut left, mut count) = (room, order.len() as u32);
    for line in order {
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
