//! The providers, by format.

use crate::{Format, anthropic, openai_chat, openai_responses, provider::Provider};
use utterd_domain::context;

/// The provider of a format that has messages.
pub fn of(format: Format) -> &'static Provider {
    match format {
        Format::OpenAiResponses => &openai_responses::PROVIDER,
        Format::Anthropic => &anthropic::PROVIDER,
        _ => &openai_chat::PROVIDER,
    }
}

/// The provider of the messages of a context.
pub fn of_context(format: context::Format) -> &'static Provider {
    match format {
        context::Format::AnthropicMessages => &anthropic::PROVIDER,
        context::Format::OpenAiChat | context::Format::Text => &openai_chat::PROVIDER,
    }
}
