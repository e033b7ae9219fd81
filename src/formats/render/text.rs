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

use std::fmt::Write;

use crate::{
    domain::{
        Role, Timestamp, TokenCounter, Utterance,
        context::{Context, How, Message},
    },
    formats::render::rendered::{Rendered, size},
};

const HEADING: &str = "## Current Conversation\n";

/// Writes `context`: instructions, the summary, and the conversation under its heading.
pub(super) fn render(context: &Context, counter: &dyn TokenCounter) -> Rendered {
    let mut text = String::with_capacity(size(context));
    let mut headed = false;
    for message in &context.messages {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if !headed && !matches!(message.how, How::Given | How::Instruction | How::Summary) {
            text.push_str(HEADING);
            headed = true;
        }
        entry(message, &mut text);
    }
    let tokens = counter.count(&text);
    Rendered { text, tokens, ..Rendered::default() }
}

fn entry(message: &Message, text: &mut String) {
    let said = message.text().trim_end();
    match message.utterance.as_deref().filter(|_| message.how != How::Instruction) {
        None => text.push_str(said),
        Some(utterance) => {
            let _ = write!(text, "[{}]\n{}", time(utterance.create_time), speaker(utterance.role));
            if let Some(name) = message.name() {
                let _ = write!(text, " ({name})");
            }
            text.push(':');
            if !said.is_empty() {
                let _ = write!(text, " {said}");
            }
            used(utterance, text);
        }
    }
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    }
}

/// Appends the tools that were used or called, each once.
fn used(utterance: &Utterance, text: &mut String) {
    let told = utterance.more.iter().flat_map(|more| &more.tools_used).map(|tool| &**tool);
    let called = utterance.tool_calls().iter().map(|call| &*call.name);
    let mut tools: Vec<&str> = Vec::new();
    told.chain(called).for_each(|tool| {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    });
    if !tools.is_empty() {
        let _ = write!(text, " [used: {}]", tools.join(", "));
    }
}

/// The time to the second.
fn time(time: Timestamp) -> String {
    let moment = jiff::Timestamp::from_microsecond(time.0.div_euclid(1_000_000) * 1_000_000);
    moment.map_or_else(|_| "unknown time".to_owned(), |moment| moment.to_string())
}
