//! The protocol that a model is asked by.

/// What makes summaries beside the extractive summariser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Llm {
    /// No model.
    #[default]
    None,
    /// A server of OpenAI's chat completions: OpenAI, or any other.
    OpenAi,
    /// A server of Anthropic's messages.
    Anthropic,
}

impl Llm {
    /// Each of them, the default first.
    pub const ALL: [Self; 3] = [Self::None, Self::OpenAi, Self::Anthropic];

    /// The word for it in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}
