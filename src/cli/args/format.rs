//! The formats of other programs.

use clap::ValueEnum;

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
    /// HistoryEntry[] or PersistedHistory
    Legacy,
    /// conversations.json of ChatGPT
    Chatgpt,
    /// conversations.json of Claude
    Claude,
    /// sessions of Claude Code
    ClaudeCode,
    /// sessions of Codex
    Codex,
}

impl ConversationFormat {
    /// The formats of an export; the others can only be imported.
    pub const EXPORTED: [Self; 4] = [Self::Openai, Self::Responses, Self::Anthropic, Self::Persisted];

    /// Its number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Openai => proto::ConversationFormat::OpenaiChat.into(),
            Self::Responses => proto::ConversationFormat::OpenaiResponses.into(),
            Self::Anthropic => proto::ConversationFormat::AnthropicMessages.into(),
            Self::Persisted => proto::ConversationFormat::PersistedConversations.into(),
            Self::Legacy => proto::ConversationFormat::LegacyHistory.into(),
            Self::Chatgpt => proto::ConversationFormat::Chatgpt.into(),
            Self::Claude => proto::ConversationFormat::Claude.into(),
            Self::ClaudeCode => proto::ConversationFormat::ClaudeCode.into(),
            Self::Codex => proto::ConversationFormat::Codex.into(),
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
            ConversationFormat::Chatgpt => Self::ChatGpt,
            ConversationFormat::Claude => Self::Claude,
            ConversationFormat::ClaudeCode => Self::ClaudeCode,
            ConversationFormat::Codex => Self::Codex,
        }
    }
}
