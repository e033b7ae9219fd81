//! Writes a context in its format: JSON straight from the utterances, or text.

mod anthropic;
mod line;
mod openai_chat;
mod rendered;
#[cfg(test)]
mod tests;
mod text;

pub use rendered::Rendered;

use utterd_domain::{
    TokenCounter,
    context::{Context, Format},
};

/// Writes `context` in its format.
pub fn render(context: &Context, counter: &dyn TokenCounter) -> Rendered {
    match context.format {
        Format::OpenAiChat => openai_chat::render(context),
        Format::AnthropicMessages => anthropic::render(context),
        Format::Text => text::render(context, counter),
    }
}
