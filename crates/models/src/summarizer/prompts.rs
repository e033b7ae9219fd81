//! The prompts for a model.
//!
//! Their texts are in files, in a directory named after their version; each summary is stored with the version
//! that it was made with. Seed 004 defines what the texts say to preserve and to omit.

use std::fmt::Write;

use super::transcript;
use utterd_domain::extract::Talk;
use utterd_engine::models::llm::{Material, Task};

/// The version of the prompts.
pub const PROMPT_VERSION: u32 = 3;

/// The texts for a task.
struct Words {
    system: &'static str,
    user: &'static str,
    told: &'static str,
}

const SUMMARY: Words = Words {
    system: include_str!("prompts/v3/system.txt"),
    user: include_str!("prompts/v3/user.txt"),
    told: include_str!("prompts/v3/told.txt"),
};
const CLOSING: Words = Words {
    system: include_str!("prompts/v3/closing_system.txt"),
    user: include_str!("prompts/v3/closing_user.txt"),
    told: include_str!("prompts/v3/closing_told.txt"),
};
const FOCUS: &str = include_str!("prompts/v3/focus.txt");
const FACTS: &str = include_str!("prompts/v3/facts.txt");
const BEFORE: &str = include_str!("prompts/v3/before.txt");

/// The prompt for a model: the rules, and one message with the whole transcript as data.
pub(super) struct Prompt {
    /// The rules.
    pub system: &'static str,
    /// The task and the transcript.
    pub user: String,
    /// The tokens that the answer may have before it is cut off.
    pub max_tokens: u32,
}

impl Prompt {
    /// Returns the prompt for `material`.
    pub(super) fn of(material: &Material) -> Self {
        let words = match material.task {
            Task::Summary => SUMMARY,
            Task::Closing => CLOSING,
        };
        let mut user = words.user.replace("{tokens}", &asked_for(material.max_tokens).to_string());
        if let Some(kind) = material.kind {
            user.push_str(emphasis(kind));
        }
        if !material.focus.is_empty() {
            user.push_str(&FOCUS.replace("{areas}", &material.focus.join(", ")));
        }
        if !material.before.is_empty() {
            user.push_str(BEFORE);
        }
        if !material.told.is_empty() {
            user.push_str(words.told);
        }
        if !material.facts.is_empty() {
            user.push_str(FACTS);
        }
        let _ = write!(user, "\n<transcript>\n{}</transcript>", transcript::of(material));
        Self { system: words.system.trim_end(), user, max_tokens: allowed(material.max_tokens) }
    }
}

/// Returns what to emphasize for a kind of conversation (seed 004, "Focus areas").
fn emphasis(kind: Talk) -> &'static str {
    match kind {
        Talk::Code => include_str!("prompts/v3/code.txt"),
        Talk::Feature => include_str!("prompts/v3/feature.txt"),
        Talk::Review => include_str!("prompts/v3/review.txt"),
        Talk::Planning => include_str!("prompts/v3/planning.txt"),
        Talk::Questions => include_str!("prompts/v3/questions.txt"),
        Talk::Debugging => include_str!("prompts/v3/debugging.txt"),
    }
}

/// The number of tokens to ask a model for: below the limit, because models overrun the number they are given.
fn asked_for(limit: u32) -> u32 {
    limit - limit / 5
}

/// The number of tokens after which an answer is cut off: above the limit, because another provider's encoding
/// can count half as many tokens again for the same text.
fn allowed(limit: u32) -> u32 {
    limit.saturating_add(limit / 2).max(1)
}
