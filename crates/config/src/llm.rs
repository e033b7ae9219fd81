//! The protocol of the model that makes summaries.

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

impl Llm {
    /// Every variant, the default first.
    pub const ALL: [Self; 3] = [Self::None, Self::OpenAi, Self::Anthropic];

    /// Returns the variant's word in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}
