//! Text in the form of seed 000 (`getContextPrompt`).
//!
//! ```text
//! ## Current Conversation
//! [2025-01-15T10:00:00Z]
//! User: Create a note about today's meeting
//!
//! [2025-01-15T10:00:05Z]
//! Assistant: I've created 'Meeting Notes.md' in your Journal folder. [used: write_file]
//! ```
//!
//! Results are left out. A late one is an entry of its own, since nothing else shows what the assistant is
//! responding to: `` Tool: result of `look`, call `c1`: found ``.

use crate::render::rendered::Rendered;
use utterd_domain::{
    TokenCounter,
    context::{
        Context, How, Message,
        text::{self, HEADING},
    },
};

/// Writes `context`: instructions, the summary, and the conversation under its heading.
pub(super) fn render(context: &Context, counter: &dyn TokenCounter) -> Rendered {
    let mut text = String::new();
    let mut headed = false;
    for message in &context.messages {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if !headed && !matches!(message.how, How::Given | How::Instruction | How::Summary | How::Earlier) {
            text.push_str(HEADING);
            headed = true;
        }
        add(message, &mut text);
    }
    let tokens = counter.count(&text);
    Rendered { text, tokens, ..Rendered::default() }
}

fn add(message: &Message, to: &mut String) {
    match message.utterance.as_deref().filter(|_| message.how != How::Instruction) {
        None => to.push_str(message.text().trim_end()),
        Some(utterance) => to.push_str(&text::entry(utterance, message.text())),
    }
}
