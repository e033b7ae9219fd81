//! Calls as summaries write them: `name(arguments) → outcome`.

use crate::extractive::{
    sentence::{DONE, Sentence},
    spoken::Spoken,
    text::words::{IDENTIFIER, scan},
};

/// The limit for arguments in the short form, in bytes.
const ARGUMENTS_BYTES: usize = 80;
/// The limit for an outcome in the short form, in bytes.
const OUTCOME_BYTES: usize = 60;

/// A call in a summary's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToldCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The values of its arguments, one after another.
    pub arguments: &'a str,
    /// How it ended.
    pub outcome: &'a str,
}

impl<'a> ToldCall<'a> {
    /// The call in a whole line, `Assistant called name(arguments) → outcome`.
    pub(crate) fn of_line(line: &'a str) -> Option<Self> {
        Some(Spoken::of(line)).filter(|spoken| spoken.is_call).and_then(|spoken| Self::of(spoken.said))
    }

    /// The call in `name(arguments) → outcome`.
    pub(crate) fn of(said: &'a str) -> Option<Self> {
        let (tool, rest) = said.trim_end().split_once('(')?;
        let (arguments, outcome) = rest.split_once(") → ")?;
        Some(Self { tool, arguments, outcome })
    }

    /// All calls of a line.
    pub(crate) fn all_of(line: &'a Sentence) -> Vec<Self> {
        match line.head().strip_suffix(DONE) {
            None => Self::of_line(&line.text).into_iter().collect(),
            Some(head) => {
                let tool = head.rsplit(" called ").next().unwrap_or(head);
                let call = |item| Self { tool, arguments: line.item(item), outcome: "ok" };
                line.items.iter().map(call).collect()
            }
        }
    }

    /// Whether it succeeded.
    pub(crate) fn is_done(self) -> bool {
        self.outcome.starts_with("ok")
    }

    /// The first text argument, if it is one word: an id, a path.
    pub(crate) fn key(self) -> Option<&'a str> {
        let first = self.arguments.split(", ").find(|value| !value.contains('='))?;
        (!first.is_empty() && !first.contains([' ', '…'])).then_some(first)
    }

    /// A shorter form: only the first arguments, and the outcome without its data.
    pub(crate) fn short(self) -> String {
        format!("{}({}) → {}", self.tool, self.short_arguments(), self.short_outcome())
    }

    fn short_arguments(self) -> String {
        if self.arguments.len() <= ARGUMENTS_BYTES {
            return self.arguments.to_owned();
        }
        let told = &self.arguments[..self.arguments.floor_char_boundary(ARGUMENTS_BYTES)];
        let end = told.rfind(", ").unwrap_or(told.trim_end().len());
        format!("{}…", told[..end].trim_end_matches('…'))
    }

    fn short_outcome(self) -> &'a str {
        let is_plain = self.outcome.len() <= OUTCOME_BYTES && !self.outcome.contains(['{', '[', '…']);
        match () {
            () if !self.outcome.starts_with("ok") => self.outcome,
            () if is_plain && self.outcome.starts_with("ok: ") => self.outcome,
            () => "ok",
        }
    }
}

/// Calls `each` for every identifier in `text`, verbatim.
pub(crate) fn identifiers<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    scan(text, |word| {
        let is_cut = text[word.end as usize..].starts_with('…');
        if word.weight == IDENTIFIER && !is_cut {
            each(word.of(text));
        }
    });
}
