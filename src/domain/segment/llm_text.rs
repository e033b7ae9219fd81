//! What a model told of a segment, and what it is asked for.

use std::sync::Arc;

use crate::domain::{
    Ranges, Sequence, Timestamp, TokenCounter,
    extractive::{LineKind, Sentence},
    memory::allocated,
};

/// What a line of a model's weighs where lines compete: about what a telling sentence does.
const LINE_WEIGHT: u32 = 60;

/// A model's text of a segment; it stands in the place of the sentences, which are kept beside it for
/// when what it was made from is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmText {
    /// The text, a line each.
    pub lines: Vec<Sentence>,
    /// The model.
    pub model: Box<str>,
    /// The version of the prompts that it was asked with.
    pub prompt: u32,
    /// Every sequence that the model was shown something of: when one of these is forgotten, nothing of the
    /// text may stay.
    pub from: Ranges,
}

/// That a model is to tell a segment anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaits {
    /// Since when.
    pub since: Timestamp,
    /// What models told of the segments that were folded into this one; empty when none did.
    pub told: Box<str>,
    /// The sequences that this was told from.
    pub from: Ranges,
    /// The focus areas that the caller of a compaction named.
    pub focus: Arc<[String]>,
}

/// Why a model's text cannot be a segment's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It says nothing.
    #[error("the text is empty")]
    Empty,
    /// It has too many tokens.
    #[error("the text has {tokens} tokens; accepted are at most {most}")]
    TooLong {
        /// What it has.
        tokens: u32,
        /// What it may have.
        most: u32,
    },
}

impl Awaits {
    /// A model is awaited since `since`, and nothing was told yet.
    pub(super) fn plain(since: Timestamp) -> Self {
        Self { since, told: "".into(), from: Ranges::new(), focus: Arc::default() }
    }

    /// About how many bytes it takes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        let focus: usize = self.focus.iter().map(|area| size_of::<String>() + allocated(area.len())).sum();
        128 + self.from.memory_bytes() + allocated(self.told.len()) + focus
    }
}

/// The lines of a model's text that may have `most` tokens: nothing but text, and no blank lines. They are
/// noted under `sequence`.
pub fn lines(
    text: &str,
    sequence: Sequence,
    most: u32,
    counter: &dyn TokenCounter,
) -> Result<Vec<Sentence>, Unfit> {
    let lines: Vec<Sentence> =
        text.lines().filter_map(tidy).map(|line| counted(line, sequence, counter)).collect();
    let tokens = lines.iter().fold(0u32, |sum, line| sum.saturating_add(line.tokens));
    match () {
        () if lines.is_empty() => Err(Unfit::Empty),
        () if tokens > most => Err(Unfit::TooLong { tokens, most }),
        () => Ok(lines),
    }
}

/// A line without white space around it and control characters in it, so that its tokens add up with
/// those of others; `None` when nothing is left.
fn tidy(line: &str) -> Option<String> {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    match line.starts_with('/') {
        // a slash is counted with the line break before it
        true => Some(format!("- {line}")),
        false => (!line.is_empty()).then(|| line.to_owned()),
    }
}

fn counted(mut line: String, sequence: Sequence, counter: &dyn TokenCounter) -> Sentence {
    line.push('\n');
    let tokens = counter.count(&line);
    Sentence::plain(LineKind::Said, sequence, line.into(), LINE_WEIGHT, tokens)
}
