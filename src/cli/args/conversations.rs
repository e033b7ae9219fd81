//! Arguments of the commands that concern whole conversations.

use clap::{Args, ValueEnum};

use super::target::Target;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub target: Target,
}

/// Arguments of `fork`.
#[derive(Debug, Args)]
pub struct Fork {
    #[command(flatten)]
    pub target: Target,
    /// The last sequence that both share [default: the newest]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// The fork's id [default: the server makes one]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub id: String,
    /// Whose conversation the fork is [default: the recipient's it is forked from]
    #[arg(long, value_name = "RECIPIENT", default_value = "", hide_default_value = true)]
    pub to: String,
    /// The fork's title [default: that of the one it is forked from]
    #[arg(long, default_value = "", hide_default_value = true)]
    pub title: String,
    /// Make it its recipient's active conversation, also when there is one already
    #[arg(long)]
    pub activate: bool,
}

/// Arguments of `end`.
#[derive(Debug, Args)]
pub struct End {
    #[command(flatten)]
    pub target: Target,
    /// Why it ends
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
}

/// Arguments of `capacity`.
#[derive(Debug, Args)]
pub struct Capacity {
    #[command(flatten)]
    pub target: Target,
    /// Stay and tell each change
    #[arg(long)]
    pub watch: bool,
}

/// How long the spans of `stats` are.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Span {
    /// From a full hour
    Hour,
    /// From midnight, UTC
    Day,
    /// From Monday
    Week,
    /// From the first of the month
    Month,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub struct Stats {
    #[command(flatten)]
    pub target: Target,
    /// All conversations of the recipient
    #[arg(long, conflicts_with = "conversation")]
    pub all: bool,
    /// How long a span of time is
    #[arg(long, default_value = "day")]
    pub by: Span,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    pub target: Target,
    /// Go on behind this event [default: what happens from now on]
    #[arg(long, value_name = "CURSOR", default_value = "", hide_default_value = true)]
    pub after: String,
}

/// Arguments of `delete-recipient`.
#[derive(Debug, Args)]
pub struct DeleteRecipient {
    #[command(flatten)]
    pub target: Target,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
