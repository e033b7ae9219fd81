//! A model's text for a segment, and what a model is asked for.

use std::sync::Arc;

use crate::{Ranges, Timestamp, TokenCounter, extract::Line, values::memory::allocated};

/// A model's text for a segment. It is shown instead of the segment's own lines, which are kept in case
/// one of its sources is forgotten.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LlmText {
    /// The text, line by line.
    pub lines: Vec<Line>,
    /// The model.
    pub model: Box<str>,
    /// The version of the prompts it was given.
    pub prompt: u32,
    /// Every sequence that the model was shown a part of: if one of these is forgotten, the whole text is
    /// removed.
    pub from: Ranges,
}

/// Marks a segment that a model is to rewrite.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Awaits {
    /// The start of the wait.
    pub since: Timestamp,
    /// The models' texts for the segments that were folded into this one; empty if there were none.
    pub told: Box<str>,
    /// The sequences that these texts were made from.
    pub from: Ranges,
    /// The focus areas that the caller of a compaction named.
    pub focus: Arc<[String]>,
}

/// Why a model's text cannot be used for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It says nothing.
    #[error("the text is empty")]
    Empty,
    /// It has too many tokens.
    #[error("the text has {tokens} tokens; accepted: at most {most}")]
    TooLong {
        /// The tokens it has.
        tokens: u32,
        /// The tokens it may have.
        most: u32,
    },
}

impl Awaits {
    /// Waiting since `since`, without an earlier text.
    pub(super) fn plain(since: Timestamp) -> Self {
        Self { since, told: "".into(), from: Ranges::new(), focus: Arc::default() }
    }

    /// The approximate memory in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let focus: usize = self.focus.iter().map(|area| size_of::<String>() + allocated(area.len())).sum();
        128 + self.from.memory_bytes() + allocated(self.told.len()) + focus
    }
}

/// The lines of a model's text that may have `most` tokens: nothing but text, and no blank lines.
pub fn lines(text: &str, most: u32, counter: &dyn TokenCounter) -> Result<Vec<Line>, Unfit> {
    let lines: Vec<Line> = text.lines().filter_map(tidy).map(|line| Line::quoted(&line, counter)).collect();
    let tokens = lines.iter().fold(0u32, |sum, line| sum.saturating_add(line.tokens));
    match () {
        () if lines.is_empty() => Err(Unfit::Empty),
        () if tokens > most => Err(Unfit::TooLong { tokens, most }),
        () => Ok(lines),
    }
}

/// The line without white space around it and control characters in it, so that its tokens add up with those
/// of others; `None` if nothing is left.
pub(super) fn tidy(line: &str) -> Option<String> {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    match line.starts_with('/') {
        // a leading slash is counted together with the line break before it
        true => Some(format!("- {line}")),
        false => (!line.is_empty()).then(|| line.to_owned()),
    }
}
