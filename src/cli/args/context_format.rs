//! The formats of messages for a model.

use clap::ValueEnum;

use crate::proto;

/// The format of a context.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ContextFormat {
    /// chat messages
    Openai,
    /// messages, and the system prompt beside them
    Anthropic,
    /// times, speakers and texts
    Text,
}

impl ContextFormat {
    /// Its number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Openai => proto::ContextFormat::OpenaiChat.into(),
            Self::Anthropic => proto::ContextFormat::AnthropicMessages.into(),
            Self::Text => proto::ContextFormat::Text.into(),
        }
    }
}
