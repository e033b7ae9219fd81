//! What was recalled, as one marked message.

use std::{fmt::Write, sync::Arc};

use crate::domain::{
    Ranges, Role, Utterance,
    context::{Format, How, Message, trim::trim, wording::Costs},
};

const BEFORE: &str = "[Recalled from earlier in this conversation]\n";
const AFTER: &str = "[End of what was recalled]";
/// An utterance is not shortened to fewer tokens.
const LEAST_TOKENS: u32 = 48;

/// The message that says what of `found` fits into `room` tokens, the best first, in the order it
/// was said; and what it holds. What is `rendered` anyway is passed over.
pub(super) fn message(
    found: &[Arc<Utterance>],
    rendered: &Ranges,
    room: u64,
    costs: Costs<'_>,
) -> Option<(Message, Vec<Arc<Utterance>>)> {
    let frame = costs.of_words(BEFORE) + costs.counter.count(AFTER);
    let mut left = u32::try_from(room).unwrap_or(u32::MAX).checked_sub(frame)?;
    let mut entries: Vec<(Arc<Utterance>, String)> = Vec::new();
    for utterance in found {
        let taken = entries.iter().any(|(other, _)| other.sequence == utterance.sequence);
        if taken || !utterance.is_live() || utterance.instruction || rendered.contains(utterance.sequence) {
            continue;
        }
        let text = entry(utterance);
        let tokens = costs.counter.count(&text);
        if tokens <= left {
            left -= tokens;
            entries.push((utterance.clone(), text));
        } else if left >= LEAST_TOKENS {
            let (text, _) = trim(text.trim_end(), tokens, left - 1, costs.counter);
            entries.push((utterance.clone(), text + "\n"));
            break;
        }
    }
    compose(entries, room, costs)
}

/// The entries in the order said; the worst goes while they are too long together.
fn compose(
    mut entries: Vec<(Arc<Utterance>, String)>,
    room: u64,
    costs: Costs<'_>,
) -> Option<(Message, Vec<Arc<Utterance>>)> {
    while !entries.is_empty() {
        let mut order: Vec<_> = entries.iter().collect();
        order.sort_by_key(|(utterance, _)| utterance.sequence);
        let lines: String = order.iter().map(|(_, text)| text.as_str()).collect();
        let text = format!("{BEFORE}{lines}{AFTER}");
        let tokens = costs.of_words(&text);
        if u64::from(tokens) <= room {
            let role = if costs.format == Format::OpenAiChat { Role::System } else { Role::User };
            let utterances = order.iter().map(|(utterance, _)| utterance.clone()).collect();
            return Some((Message::own(role, How::Recalled, text, tokens), utterances));
        }
        entries.pop();
    }
    None
}

fn entry(utterance: &Utterance) -> String {
    let speaker = match utterance.role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool result",
    };
    let mut text = String::with_capacity(utterance.content.len() + 32);
    text.push_str(speaker);
    if let Some(name) = utterance.name() {
        let _ = write!(text, " {name}");
    }
    let _ = write!(text, " (turn {}): {}", utterance.turn, utterance.content.trim_end());
    for call in utterance.tool_calls() {
        let _ = write!(text, " [called {}({})]", call.name, call.arguments_json);
    }
    text.push('\n');
    text
}
