//! How a format words an utterance, and what that costs.
//!
//! A message costs what its utterance counts: 4, its content, its name and 1, and for each call 3, the tool's
//! name and the arguments. What a format leaves out or rewords is counted as it is written:
//!
//! - an Anthropic message has no name: a user's name is a text before it;
//! - names and tools that a provider refuses are cleaned up, calls without arguments get `{}`, and arguments that a
//!   provider refuses are replaced: see [`arguments`];
//! - a late result is a note on the user's side, in every format: no provider accepts it after anything but
//!   its call; it has no name;
//! - an entry of a text costs what it is written as, and a blank line;
//! - extras are not rendered, and their declared tokens do not count, unless content is sent as it came because it has
//!   more than text; then a model's thoughts in it count too.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::{
    Role, TokenCounter, ToolCall, Utterance,
    context::{Format, Original, content_parts::IMAGE_MARK, text},
    draft::{MESSAGE_TOKENS, NAME_TOKENS},
    exchange::note,
};

/// Precedes a system utterance in the middle of an Anthropic conversation, whose messages have no system
/// role.
pub const SYSTEM_MARK: &str = "[system message]";
/// Opens an Anthropic conversation that would otherwise begin with the assistant.
pub const OPENING: &str = "[The conversation goes on.]";
/// Longest name of a participant or a tool that OpenAI accepts, in characters.
const OPENAI_NAME: usize = 64;
/// Longest name of a tool that Anthropic accepts, in characters.
const ANTHROPIC_NAME: usize = 128;
/// Tokens of the blank line before a part of a text, and of what two parts can cost more joined than
/// separate.
const SEAM_TOKENS: u32 = 2;

/// A participant's name as OpenAI accepts it: `^[^\s<|\\/>]+$`, at most 64 characters.
pub fn participant(name: &str) -> Cow<'_, str> {
    clean(name, OPENAI_NAME, |c| !(c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>')))
}

/// A tool's name as the providers accept it: `^[a-zA-Z0-9_-]+$`, at most 64 characters for OpenAI
/// and 128 for Anthropic.
pub fn tool(name: &str, format: Format) -> Cow<'_, str> {
    let most = if format == Format::AnthropicMessages { ANTHROPIC_NAME } else { OPENAI_NAME };
    clean(name, most, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn clean(name: &str, most: usize, accepted: impl Fn(char) -> bool) -> Cow<'_, str> {
    if name.len() <= most && name.chars().all(&accepted) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(most).map(|c| if accepted(c) { c } else { '_' }).collect())
}

/// The arguments of a call: as the model wrote them, if the format accepts that. OpenAI gets JSON, Anthropic the text
/// of a JSON object; arguments that are cut amid their JSON become `{}` for OpenAI, and any other text becomes
/// `{"arguments": …}`.
pub fn arguments(call: &ToolCall, format: Format) -> Cow<'_, str> {
    let text = &*call.arguments_json;
    match format {
        _ if text.trim().is_empty() => Cow::Borrowed("{}"),
        Format::Text => Cow::Borrowed(text),
        Format::OpenAiChat if parses(text) => Cow::Borrowed(text),
        Format::OpenAiChat if is_cut(call) => Cow::Borrowed("{}"),
        Format::AnthropicMessages if is_object(text) => Cow::Borrowed(text.trim()),
        _ => Cow::Owned(serde_json::json!({ "arguments": text }).to_string()),
    }
}

/// Whether the arguments of a call are cut amid their JSON.
pub(super) fn is_cut(call: &ToolCall) -> bool {
    call.arguments_json.trim_start().starts_with(['{', '[']) && !parses(&call.arguments_json)
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && parses(text)
}

fn parses(text: &str) -> bool {
    match text.contains("\\u") {
        // half a surrogate pair is found only by parsing the text around it
        true => serde_json::from_str::<serde_json::Value>(text).is_ok(),
        false => serde_json::from_str::<IgnoredAny>(text).is_ok(),
    }
}

/// The text before a named user's words in an Anthropic message.
pub fn name_mark(name: &str) -> String {
    format!("{name}:")
}

/// The note for a late result with `content` as its text; empty for any other utterance.
pub(super) fn late_result(result: &Utterance, content: &str) -> String {
    let call = result.tool_call_id().unwrap_or_default();
    result.late().map_or_else(String::new, |late| note(&late.tool, call, content))
}

/// Whether `text` has something that `format` can show.
pub fn says(text: &str, format: Format) -> bool {
    match format {
        Format::OpenAiChat => !text.is_empty(),
        Format::AnthropicMessages | Format::Text => !text.trim().is_empty(),
    }
}

/// Costs in one format.
#[derive(Clone, Copy)]
pub(super) struct Costs<'a> {
    pub(super) format: Format,
    pub(super) counter: &'a dyn TokenCounter,
}

impl Costs<'_> {
    /// Tokens of the context's own words, or of a reworded result.
    pub(super) fn of_words(&self, text: &str) -> u32 {
        let around = if self.format == Format::Text { SEAM_TOKENS } else { MESSAGE_TOKENS };
        self.counter.count(text).saturating_add(around)
    }

    /// Tokens of the message for a late result with `content` as its text.
    pub(super) fn of_late_result(&self, result: &Utterance, content: &str) -> u32 {
        self.of_note(result, &late_result(result, content))
    }

    /// Tokens of a message with `note` in place of a late result.
    pub(super) fn of_note(&self, result: &Utterance, note: &str) -> u32 {
        match self.format {
            Format::Text => self.of_words(&text::entry(result, note)),
            Format::OpenAiChat | Format::AnthropicMessages => self.of_words(note),
        }
    }

    /// Tokens of the content of `utterance`, and of what its message has besides.
    pub(super) fn parts_of(&self, utterance: &Utterance) -> (u32, u32) {
        let whole = self.of(utterance).unwrap_or_default();
        let content = match utterance.role {
            _ if utterance.late().is_some() || self.format == Format::Text => {
                self.counter.count(&utterance.content)
            }
            Role::Tool => whole.saturating_sub(MESSAGE_TOKENS),
            _ if utterance.more.is_none() => utterance.tokens.saturating_sub(MESSAGE_TOKENS),
            _ => self.counter.count(&utterance.content),
        };
        (content, self.of_shortened(utterance, "", whole.saturating_sub(content)))
    }

    /// Tokens of the message for `utterance` with `content` as its text. If they add up, they are `sum`.
    pub(super) fn of_shortened(&self, utterance: &Utterance, content: &str, sum: u32) -> u32 {
        match self.format {
            _ if utterance.late().is_some() => self.of_late_result(utterance, content),
            Format::Text => self.of_words(&text::entry(utterance, content)),
            Format::OpenAiChat | Format::AnthropicMessages => sum,
        }
    }

    /// Whether the format has a place for results.
    pub(super) fn takes_results(&self) -> bool {
        self.format != Format::Text
    }

    /// Tokens of a message that renders `utterance`; `None` if it has nothing to render.
    pub(super) fn of(&self, utterance: &Utterance) -> Option<u32> {
        let says = says(&utterance.content, self.format);
        let plain = utterance.more.is_none();
        match self.format {
            _ if !says && utterance.role != Role::Tool && utterance.tool_calls().is_empty() => None,
            Format::Text if utterance.role == Role::Tool => None,
            Format::Text if utterance.instruction => Some(self.of_words(&utterance.content)),
            Format::Text => Some(self.of_words(&text::entry(utterance, &utterance.content))),
            Format::OpenAiChat if plain => Some(utterance.tokens),
            Format::AnthropicMessages if plain && utterance.role != Role::System && says => {
                Some(utterance.tokens)
            }
            _ => Some(self.worded(utterance, says)),
        }
    }

    /// Tokens of a message that renders `utterance` with its original content, and a mark in the place of each of its
    /// first `count` images.
    pub(super) fn with_parts(&self, utterance: &Utterance, original: &Original, count: usize) -> u32 {
        let of_extras = || utterance.more.as_ref().map_or(0, |more| more.extras_tokens);
        let all = original.tokens.unwrap_or_else(of_extras);
        let shown = match count {
            0 => all,
            // what the caller declared can be more than the sum of their costs
            _ if count == original.images.len() => 0,
            _ => original.images.iter().take(count).fold(all, |all, image| all.saturating_sub(image.tokens)),
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let marks = self.counter.count(IMAGE_MARK).saturating_mul(count);
        let worded = self.worded(utterance, says(&utterance.content, self.format));
        worded.saturating_add(shown).saturating_add(marks)
    }

    fn worded(&self, utterance: &Utterance, says: bool) -> u32 {
        let anthropic = self.format == Format::AnthropicMessages;
        let mut tokens = Adjusted(i64::from(utterance.tokens));
        if anthropic && !says {
            tokens.less(self.counter.count(&utterance.content));
        }
        if anthropic && utterance.role == Role::System && !utterance.instruction {
            tokens.more(self.counter.count(SYSTEM_MARK));
        }
        let Some(more) = &utterance.more else { return tokens.done() };
        tokens.less(more.extras_tokens);
        if let Some(name) = &more.name {
            self.adjust_name(&mut tokens, utterance.role, name);
        }
        for call in &more.tool_calls {
            self.adjust(&mut tokens, &call.name, &tool(&call.name, self.format));
            self.adjust(&mut tokens, &call.arguments_json, &arguments(call, self.format));
        }
        tokens.done()
    }

    fn adjust_name(&self, tokens: &mut Adjusted, role: Role, name: &str) {
        match (self.format, role) {
            (Format::OpenAiChat, _) => {
                self.adjust(tokens, name, &participant(name));
            }
            (Format::AnthropicMessages, Role::User) => {
                tokens.less(self.counter.count(name) + NAME_TOKENS);
                tokens.more(self.counter.count(&name_mark(name)));
            }
            _ => tokens.less(self.counter.count(name) + NAME_TOKENS),
        }
    }

    fn adjust(&self, tokens: &mut Adjusted, stored: &str, written: &str) {
        if stored != written {
            tokens.less(self.counter.count(stored));
            tokens.more(self.counter.count(written));
        }
    }
}

/// A stored count, adjusted to a rendering.
struct Adjusted(i64);

impl Adjusted {
    fn less(&mut self, tokens: u32) {
        self.0 -= i64::from(tokens);
    }

    fn more(&mut self, tokens: u32) {
        self.0 += i64::from(tokens);
    }

    fn done(self) -> u32 {
        u32::try_from(self.0.max(0)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: "a".into(), name: "f".into(), arguments_json: arguments.into() }
    }

    #[test]
    fn names_are_cleaned_only_where_a_provider_refuses_them() {
        assert!(matches!(participant("Zoë.b"), Cow::Borrowed("Zoë.b")));
        assert_eq!(participant("Ada <a|b> \\/"), "Ada__a_b____");
        assert_eq!(participant(&"é".repeat(70)).chars().count(), 64);
        assert_eq!(tool("mcp.find it", Format::OpenAiChat), "mcp_find_it");
        assert_eq!(tool(&"x".repeat(200), Format::AnthropicMessages).len(), 128);
    }

    #[test]
    fn anthropic_gets_an_object() {
        let written = |text: &str| arguments(&call(text), Format::AnthropicMessages).into_owned();
        for object in ["{}", " {\"a\": [1, {}]}\n", "{\"a\": 1, \"a\": 2}", "{\"\\u00e9\": 1}"] {
            assert_eq!(written(object), object.trim());
        }
        for (other, wrapped) in [
            ("", "{}"),
            (" ", "{}"),
            ("[1]", r#"{"arguments":"[1]"}"#),
            ("{\"a\":", r#"{"arguments":"{\"a\":"}"#),
            (r#"{"a": "\ud800"}"#, r#"{"arguments":"{\"a\": \"\\ud800\"}"}"#),
        ] {
            assert_eq!(written(other), wrapped);
        }
    }

    #[test]
    fn openai_gets_json() {
        for (said, written) in [
            ("[1]", "[1]"),
            (" {}", " {}"),
            ("{\"a\":", "{}"),
            ("{\"a\": NaN}", "{}"),
            ("", "{}"),
            ("*** Begin", r#"{"arguments":"*** Begin"}"#),
        ] {
            assert_eq!(arguments(&call(said), Format::OpenAiChat), written);
        }
    }
}
