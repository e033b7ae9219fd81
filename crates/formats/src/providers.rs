//! The providers, by format.

use crate::{Format, anthropic, extras::Parts, openai_chat, openai_responses, provider::Provider};
use utterd_domain::context;

/// The formats that have messages.
pub const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];

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

/// The provider in whose format an utterance came; `None` if nothing is kept of that.
pub fn origin(parts: &Parts<'_>) -> Option<&'static Provider> {
    parts.first_kept(&FORMATS).map(of)
}
