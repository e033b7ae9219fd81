//! The words of a conversation as text.

use std::fmt::Write;

use crate::{Role, Timestamp, Utterance};

/// Opens the conversation.
pub const HEADING: &str = "## Current Conversation\n";

/// The entry of an utterance: its time and speaker, what is `said`, and the tools that it used or called.
pub fn entry(utterance: &Utterance, said: &str) -> String {
    let said = said.trim_end();
    let mut text = String::with_capacity(said.len() + 64);
    let _ = write!(text, "[{}]\n{}", time(utterance.create_time), speaker(utterance.role));
    let late = utterance.late().is_some();
    if let Some(name) = utterance.name().filter(|_| !late) {
        let _ = write!(text, " ({name})");
    }
    text.push(':');
    if !said.is_empty() {
        let _ = write!(text, " {said}");
    }
    used(utterance, &mut text);
    text
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
