//! Arguments of the commands that read and write formats of other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::target::Target;
use crate::{formats::Format, proto};

/// A format of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConversationFormat {
    /// OpenAI's chat messages
    Openai,
    /// OpenAI's Responses items
    Responses,
    /// Anthropic's messages
    Anthropic,
    /// PersistedConversations
    Persisted,
    /// HistoryEntry[] or PersistedHistory, only to import
    Legacy,
}

impl ConversationFormat {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Openai => proto::ConversationFormat::OpenaiChat.into(),
            Self::Responses => proto::ConversationFormat::OpenaiResponses.into(),
            Self::Anthropic => proto::ConversationFormat::AnthropicMessages.into(),
            Self::Persisted => proto::ConversationFormat::PersistedConversations.into(),
            Self::Legacy => proto::ConversationFormat::LegacyHistory.into(),
        }
    }
}

impl From<ConversationFormat> for Format {
    fn from(format: ConversationFormat) -> Self {
        match format {
            ConversationFormat::Openai => Self::OpenAiChat,
            ConversationFormat::Responses => Self::OpenAiResponses,
            ConversationFormat::Anthropic => Self::Anthropic,
            ConversationFormat::Persisted => Self::Persisted,
            ConversationFormat::Legacy => Self::Legacy,
        }
    }
}

/// How an export is laid out.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Layout {
    /// One JSON document
    Json,
    /// A message a line, or a conversation a line
    Jsonl,
}

impl Layout {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Json => proto::ExportLayout::Json.into(),
            Self::Jsonl => proto::ExportLayout::JsonLines.into(),
        }
    }
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub target: Target,
    /// What the files are in [default: told by their looks]
    #[arg(long)]
    pub format: Option<ConversationFormat>,
    /// Add to a conversation that exists and is not of an earlier import of the same
    #[arg(long)]
    pub into_existing: bool,
    /// Refuse what is not well-formed instead of keeping it leniently
    #[arg(long)]
    pub strict: bool,
    /// Read messages of unknown roles as the user's instead of refusing the file
    #[arg(long, conflicts_with = "strict")]
    pub lenient: bool,
    /// Check everything and store nothing
    #[arg(long)]
    pub check: bool,
    /// JSON or JSONL files; `-` reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub target: Target,
    /// What to write
    #[arg(long, default_value = "openai")]
    pub format: ConversationFormat,
    /// How it is laid out [default: json for a conversation, jsonl for all of a recipient's]
    #[arg(long)]
    pub layout: Option<Layout>,
    /// The file to write; without it stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Close calls that were never answered with a placeholder instead of leaving them out
    #[arg(long)]
    pub close_unanswered: bool,
    /// Repair also what came in this format and is irregular
    #[arg(long)]
    pub repair_all: bool,
    /// The conversation; without it all of the recipient's
    #[arg(value_name = "CONVERSATION")]
    pub name: Option<String>,
}
