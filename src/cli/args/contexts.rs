//! Arguments of the command that builds contexts.

use clap::{Args, ValueEnum};

use super::target::Target;

/// What a context is written as.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ContextFormat {
    /// Chat messages
    Openai,
    /// Messages, and the system apart
    Anthropic,
    /// Text with times and speakers
    Text,
}

/// Arguments of `context`.
#[derive(Debug, Args)]
pub struct Context {
    #[command(flatten)]
    pub target: Target,
    /// What it is written as
    #[arg(long, default_value = "openai")]
    pub format: ContextFormat,
    /// The most tokens [default: what the conversation's limits allow]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tokens: Option<i32>,
    /// The last N turns; 0 for all [default: the conversation's limit, or as many as fit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub turns: Option<i32>,
    /// Whether what does not fit leaves in steps, for a prompt cache [default: true without --turns]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub stable_steps: Option<bool>,
    /// A system prompt that is not stored
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub instructions: String,
    /// Adds what is stored about this and not in the context otherwise
    #[arg(long, value_name = "PROMPT")]
    pub recall: Option<String>,
    /// Recall from the recipient's other conversations too
    #[arg(long, requires = "recall")]
    pub everywhere: bool,
    /// The most matches recalled [default: as many as fit]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_limit: Option<i32>,
    /// The most of the budget that they may have, in per cent [default: 50, and what the recent turns leave]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_percent: Option<i32>,
    /// Mask tool results so many turns old
    #[arg(long, value_name = "TURNS", allow_negative_numbers = true)]
    pub mask: Option<i32>,
    /// The summary in a marked user message, not in the system's
    #[arg(long)]
    pub summary_as_user: bool,
    /// A placeholder for each missing result, where a unit is left out otherwise
    #[arg(long)]
    pub placeholders: bool,
}
