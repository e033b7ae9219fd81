//! The formats of messages for a model.

use clap::ValueEnum;

use crate::proto;

/// The format of a context.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ContextFormat {
    /// Chat messages
    Openai,
    /// Messages, with the system prompt separate
    Anthropic,
    /// Text with times and speakers
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
