//! The words that a model is asked with.
//!
//! They stand in files, a directory for each version; a summary that is to be explained later needs
//! the version that it was made with. What they tell to preserve and to omit is seed 004's.

use std::fmt::Write;

use super::transcript;
use crate::engine::llm::Material;

/// The version of the words.
pub const PROMPT_VERSION: u32 = 1;

const SYSTEM: &str = include_str!("prompts/v1/system.txt");
const USER: &str = include_str!("prompts/v1/user.txt");
const FOCUS: &str = include_str!("prompts/v1/focus.txt");
const BEFORE: &str = include_str!("prompts/v1/before.txt");
const TOLD: &str = include_str!("prompts/v1/told.txt");

/// What a model is told: the rules, and one message that holds everything said as data.
pub(super) struct Prompt {
    /// The rules.
    pub system: &'static str,
    /// The task and the transcript.
    pub user: String,
    /// The tokens that the answer may have before it is cut off.
    pub max_tokens: u32,
}

impl Prompt {
    /// The prompt for a summary of `material`.
    pub(super) fn of(material: &Material) -> Self {
        let mut user = USER.replace("{tokens}", &asked_for(material.max_tokens).to_string());
        if !material.focus.is_empty() {
            user.push_str(&FOCUS.replace("{areas}", &material.focus.join(", ")));
        }
        if !material.before.is_empty() {
            user.push_str(BEFORE);
        }
        if !material.told.is_empty() {
            user.push_str(TOLD);
        }
        let _ = write!(user, "\n<transcript>\n{}</transcript>", transcript::of(material));
        Self { system: SYSTEM.trim_end(), user, max_tokens: allowed(material.max_tokens) }
    }
}

/// The tokens that a model is asked for: models overrun what they are asked for.
fn asked_for(limit: u32) -> u32 {
    limit - limit / 5
}

/// The tokens after which an answer is cut off: a text has up to a half more of another provider's
/// tokens.
fn allowed(limit: u32) -> u32 {
    limit.saturating_add(limit / 2).max(1)
}
