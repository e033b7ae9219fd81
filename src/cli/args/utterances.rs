//! Arguments of the commands that store, find and forget utterances.

use clap::{Args, ValueEnum};

use super::target::Target;
use crate::proto;

/// Arguments of `memorize`.
#[derive(Debug, Args)]
pub struct Memorize {
    #[command(flatten)]
    pub target: Target,
    /// Who speaks [default: user; assistant with --tool-calls, tool with --tool-call-id]
    #[arg(long)]
    pub role: Option<Speaker>,
    /// The participant's or the tool's name
    #[arg(long, default_value = "", hide_default_value = true)]
    pub name: String,
    /// Important: eviction passes over it
    #[arg(long)]
    pub pin: bool,
    /// The turn it belongs to [default: the server counts]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub turn: Option<i32>,
    /// Names this attempt: repeated with the same id, it stores nothing again
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub request_id: String,
    /// The tools it calls, as OpenAI's array of tool calls
    #[arg(long, value_name = "JSON")]
    pub tool_calls: Option<String>,
    /// The open call that it answers
    #[arg(long, value_name = "ID", conflicts_with = "tool_calls")]
    pub tool_call_id: Option<String>,
    /// What was said; `-` reads stdin
    #[arg(required_unless_present_any = ["tool_calls", "tool_call_id"])]
    pub text: Vec<String>,
}

/// Where `remember` looks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Scope {
    /// The window
    Window,
    /// The window and the archive
    Conversation,
    /// All conversations of the recipient
    Recipient,
}

/// Arguments of `remember`.
#[derive(Debug, Args)]
pub struct Remember {
    #[command(flatten)]
    pub target: Target,
    /// Where to look
    #[arg(long, default_value = "conversation")]
    pub scope: Scope,
    /// Only what these roles said
    #[arg(long)]
    pub role: Vec<Speaker>,
    /// The newest first, not the most relevant
    #[arg(long)]
    pub recent: bool,
    /// The least share of the prompt that a match covers, from 0 to 1. Without it any will do, if the best covers 0.35
    #[arg(long, value_name = "SHARE")]
    pub min_relevance: Option<f64>,
    /// The most utterances
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..=1000))]
    pub limit: i32,
    /// What to look for
    #[arg(required_unless_present = "recent")]
    pub prompt: Vec<String>,
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub struct Forget {
    #[command(flatten)]
    pub target: Target,
    /// For good, also from the summary; without it what is forgotten can be restored
    #[arg(long)]
    pub hard: bool,
    /// Tell what would be forgotten and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What to forget, such as `oldest`, `last:3`, `turn:2`, `speaker:tool`, `about:TEXT`, `all`, or
    /// the same in plain English
    #[arg(required = true)]
    pub instructions: Vec<String>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Speaker {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool's result.
    Tool,
}

impl From<Speaker> for proto::Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::System => Self::System,
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
        }
    }
}
