//! The protocol of the model that makes summaries.

use super::word::{Word, Words};

/// The protocol of the model that makes summaries, in addition to the extractive summariser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Llm {
    /// No model.
    #[default]
    None,
    /// A server with OpenAI's chat completions: OpenAI, or any other.
    OpenAi,
    /// A server with Anthropic's messages.
    Anthropic,
}

impl Word for Llm {
    const WORDS: Words<Self> =
        &[(Self::None, &["none"]), (Self::OpenAi, &["openai"]), (Self::Anthropic, &["anthropic"])];
}
