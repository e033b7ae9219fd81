//! What was recalled, as one marked message.

use std::fmt::Write;

use crate::domain::{
    Ranges, Role, Utterance,
    context::{Format, Found, How, Message, Source, trim::trim, wording::Costs},
};

const BEFORE: &str = "[Recalled from earlier in this conversation]\n";
/// Where some is from other conversations, each with a heading.
const BEFORE_ALL: &str = "[Recalled from earlier conversations]\n";
/// What is of this conversation has one too, then.
const HERE: &str = "From this conversation:\n";
const AFTER: &str = "[End of what was recalled]";
/// An utterance is not shortened to fewer tokens.
const LEAST_TOKENS: u32 = 48;

/// What is recalled, and the message that quotes it.
pub(super) struct Quote {
    /// The best first, each with its line.
    entries: Vec<(Found, String)>,
    message: Message,
}

impl Quote {
    /// What of `found` fits into `room` tokens, the best first, without what is `rendered` anyway.
    pub(super) fn of(found: &[Found], rendered: &Ranges, room: u64, costs: Costs<'_>) -> Option<Self> {
        let frame = costs.of_words(BEFORE_ALL) + costs.counter.count(AFTER);
        let mut left = u32::try_from(room).unwrap_or(u32::MAX).checked_sub(frame)?;
        let mut entries: Vec<(Found, String)> = Vec::new();
        for found in found.iter().filter(|found| is_quotable(found, rendered)) {
            if entries.iter().any(|(other, _)| is_same(other, found)) {
                continue;
            }
            let heading = heading_tokens(&entries, found, costs);
            let text = entry(&found.utterance);
            let tokens = costs.counter.count(&text);
            if tokens + heading <= left {
                left -= tokens + heading;
                entries.push((found.clone(), text));
            } else if left >= LEAST_TOKENS + heading {
                let (text, _) = trim(text.trim_end(), tokens, left - heading - 1, costs.counter);
                entries.push((found.clone(), text + "\n"));
                break;
            }
        }
        compose(entries, room, costs)
    }

    /// What it costs.
    pub(super) fn tokens(&self) -> u64 {
        self.message.tokens.into()
    }

    /// Without what is `rendered` after all.
    pub(super) fn without(mut self, rendered: &Ranges, costs: Costs<'_>) -> Option<Self> {
        let before = self.entries.len();
        self.entries.retain(|(found, _)| !found.is_here(|sequence| rendered.contains(sequence)));
        match self.entries.len() == before {
            true => Some(self),
            false => compose(self.entries, self.message.tokens.into(), costs),
        }
    }

    /// The message, and what it quotes, in its order.
    pub(super) fn parts(self) -> (Message, Vec<Found>) {
        let found = in_order(&self.entries).into_iter().map(|(found, _)| found.clone()).collect();
        (self.message, found)
    }
}

fn is_quotable(found: &Found, rendered: &Ranges) -> bool {
    let utterance = &found.utterance;
    let rendered = found.is_here(|sequence| rendered.contains(sequence));
    utterance.is_live() && !utterance.instruction && !rendered
}

fn is_same(one: &Found, other: &Found) -> bool {
    one.utterance.sequence == other.utterance.sequence && one.source == other.source
}

/// The tokens of the heading that `found` brings to these entries.
fn heading_tokens(entries: &[(Found, String)], found: &Found, costs: Costs<'_>) -> u32 {
    match &found.source {
        _ if entries.iter().any(|(other, _)| other.source == found.source) => 0,
        Some(source) => costs.counter.count(&source.heading()),
        None => costs.counter.count(HERE),
    }
}

/// By conversation, the oldest first and this one last, and as it was said.
fn in_order(entries: &[(Found, String)]) -> Vec<&(Found, String)> {
    let mut order: Vec<_> = entries.iter().collect();
    order.sort_by_key(|(found, _)| {
        let source = found.source.as_deref().map(Source::order);
        (source.is_none(), source, found.utterance.sequence)
    });
    order
}

/// The worst entry goes while they are too long together.
fn compose(mut entries: Vec<(Found, String)>, room: u64, costs: Costs<'_>) -> Option<Quote> {
    while !entries.is_empty() {
        let text = quoted(&in_order(&entries));
        let tokens = costs.of_words(&text);
        if u64::from(tokens) <= room {
            let role = if costs.format == Format::OpenAiChat { Role::System } else { Role::User };
            return Some(Quote { entries, message: Message::own(role, How::Recalled, text, tokens) });
        }
        entries.pop();
    }
    None
}

fn quoted(entries: &[&(Found, String)]) -> String {
    let all_here = entries.iter().all(|(found, _)| found.source.is_none());
    let mut text = if all_here { BEFORE } else { BEFORE_ALL }.to_owned();
    for of_one in entries.chunk_by(|(one, _), (other, _)| one.source == other.source) {
        match of_one.first().and_then(|(found, _)| found.source.as_ref()) {
            Some(source) => text += &source.heading(),
            None if all_here => {}
            None => text += HERE,
        }
        text.extend(of_one.iter().map(|(_, line)| line.as_str()));
    }
    text + AFTER
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
    if let Some(name) = utterance.name().or_else(|| Some(&utterance.late()?.tool)) {
        let _ = write!(text, " {name}");
    }
    let _ = write!(text, " (turn {}): {}", utterance.turn, utterance.content.trim_end());
    for call in utterance.tool_calls() {
        let _ = write!(text, " [called {}({})]", call.name, call.arguments_json);
    }
    text.push('\n');
    text
}
