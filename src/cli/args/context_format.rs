//! What messages for a model are written as.

use clap::ValueEnum;

use crate::proto;

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

impl ContextFormat {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Openai => proto::ContextFormat::OpenaiChat.into(),
            Self::Anthropic => proto::ContextFormat::AnthropicMessages.into(),
            Self::Text => proto::ContextFormat::Text.into(),
        }
    }
}
