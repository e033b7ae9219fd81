//! An utterance as a caller sends it, before it has a place in a conversation.

use std::{collections::BTreeMap, fmt};

use crate::{
    More, Reason, Refusal, Result, Role, Size, Timestamp, TokenCounter, ToolCall,
    limits::{
        MAX_ID_BYTES, MAX_MAP_ENTRIES, MAX_MAP_KEY_BYTES, MAX_MAP_VALUE_BYTES, MAX_NAME_BYTES, MAX_TOOL_CALLS,
    },
};

/// A draft's place in its request; formatted only for a refusal.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The list, such as `utterances`.
    pub list: &'a str,
    /// The index in the list, from 0.
    pub index: usize,
}

impl Field<'_> {
    /// The path of a part of the draft, such as `utterances[3].role`.
    pub fn at(&self, part: impl fmt::Display) -> String {
        format!("{}[{}].{part}", self.list, self.index)
    }
}

/// An utterance as a caller sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The caller's id for it, if any.
    pub id: Option<Box<str>>,
    /// The speaker's role.
    pub role: Role,
    /// The text.
    pub content: Box<str>,
    /// The caller's turn number, if any; never smaller than the conversation's last.
    pub turn: Option<u32>,
    /// The caller's time, if any.
    pub create_time: Option<Timestamp>,
    /// Whether the utterance is important.
    pub pinned: bool,
    /// Fields that most utterances do not have.
    pub more: Option<Box<More>>,
}

/// Tokens around each message of a request: OpenAI's published recipe counts three, plus the role's own name,
/// which is one token in every encoding.
pub const MESSAGE_TOKENS: u32 = 4;
/// Tokens for having a name, in addition to the name's own (OpenAI's recipe).
pub const NAME_TOKENS: u32 = 1;
/// Tokens around a tool call, in addition to its name and arguments. An estimate: no provider publishes how
/// calls are written for the model.
pub const TOOL_CALL_TOKENS: u32 = 3;

impl Draft {
    /// A draft of what was said, without an id, a turn or a time.
    pub fn of(role: Role, content: impl Into<Box<str>>, more: More) -> Self {
        let more = (more != More::default()).then(|| Box::new(more));
        Self { id: None, role, content: content.into(), turn: None, create_time: None, pinned: false, more }
    }

    /// The cost in an OpenAI-style request: content, [`MESSAGE_TOKENS`], the name with
    /// [`NAME_TOKENS`], each tool call's name and arguments with [`TOOL_CALL_TOKENS`], and
    /// the tokens declared for the extras. Text is counted exactly.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> u32 {
        message_tokens(counter.count(&self.content), self.more.as_deref(), counter)
    }

    /// Whether [`Draft::tokens`] is exact: calls and extras are estimates.
    pub fn counts_exactly(&self) -> bool {
        self.more.as_ref().is_none_or(|more| more.tool_calls.is_empty() && more.extras_json.is_none())
    }

    /// Checks what can be checked without a conversation. `field` is the draft's place in the request.
    ///
    /// Refuses text beyond `max_content_bytes`, an utterance with neither content nor calls (unless
    /// `lenient`), fields that do not fit the role, and names, ids and maps beyond their limits.
    pub fn check(&self, field: Field<'_>, max_content_bytes: usize, lenient: bool) -> Result<()> {
        let bytes = self.content_bytes();
        if bytes > max_content_bytes {
            let text = format!(
                "content, tool-call arguments and extras have {bytes} bytes; accepted: at most {max_content_bytes}"
            );
            let size = Size { bytes, limit: max_content_bytes };
            return Err(Refusal::too_large_since(field.at("content"), size, text));
        }
        if self.is_empty() && !lenient {
            let text = "an utterance needs content, tool_calls or extras_json (lenient accepts one without)";
            return Err(Refusal::field(Reason::EmptyUtterance, field.at("content"), text));
        }
        let answers = self.more.as_ref().is_some_and(|more| more.tool_call_id.is_some());
        if self.role == Role::Tool && !answers && !lenient {
            let text = "a tool utterance needs the id of the call that it answers";
            return Err(Refusal::field(Reason::InvalidField, field.at("tool_call_id"), text));
        }
        self.more.as_ref().map_or(Ok(()), |more| more.check(field, self.role))
    }

    /// Whether it has no content, no calls and no provider extras. A tool utterance is never empty.
    pub fn is_empty(&self) -> bool {
        let carries = |more: &More| !more.tool_calls.is_empty() || more.extras_json.is_some();
        self.content.is_empty() && self.role != Role::Tool && !self.more.as_deref().is_some_and(carries)
    }

    /// Whether it is part of the same message as the draft before it.
    pub fn continues(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.continues)
    }

    /// The tools it calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.more.as_ref().map_or(&[], |more| &more.tool_calls)
    }

    /// The name of the speaker.
    pub fn name(&self) -> Option<&str> {
        self.more.as_ref()?.name.as_deref()
    }

    /// The id of the call it answers.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.more.as_ref()?.tool_call_id.as_deref()
    }

    /// Bytes of its content, tool-call arguments and extras.
    pub fn content_bytes(&self) -> usize {
        self.content.len() + self.more.as_ref().map_or(0, |more| more.content_bytes())
    }
}

/// The cost of a message whose content has `content` tokens; see [`Draft::tokens`].
pub(super) fn message_tokens(content: u32, more: Option<&More>, counter: &dyn TokenCounter) -> u32 {
    let text = content.saturating_add(MESSAGE_TOKENS);
    more.map_or(text, |more| text.saturating_add(more.tokens(counter)))
}

impl More {
    fn tokens(&self, counter: &dyn TokenCounter) -> u32 {
        let name = self.name.as_deref().map_or(0, |name| counter.count(name).saturating_add(NAME_TOKENS));
        let call = |call: &ToolCall| {
            let text = counter.count(&call.name).saturating_add(counter.count(&call.arguments_json));
            text.saturating_add(TOOL_CALL_TOKENS)
        };
        self.tool_calls.iter().map(call).fold(name.saturating_add(self.extras_tokens), u32::saturating_add)
    }

    fn check(&self, field: Field<'_>, role: Role) -> Result<()> {
        self.check_role(field, role)?;
        if let Some(name) = &self.name {
            check_text(name, MAX_NAME_BYTES).map_err(|text| Refusal::invalid(field.at("name"), text))?;
        }
        if let Some(id) = &self.tool_call_id {
            check_text(id, MAX_ID_BYTES).map_err(|text| Refusal::id(field.at("tool_call_id"), text))?;
        }
        check_count(|| field.at("tool_calls"), self.tool_calls.len(), MAX_TOOL_CALLS)?;
        for (index, call) in self.tool_calls.iter().enumerate() {
            let at = |name: &str| field.at(format_args!("tool_calls[{index}].{name}"));
            check_text(&call.id, MAX_ID_BYTES).map_err(|text| Refusal::id(at("id"), text))?;
            check_text(&call.name, MAX_NAME_BYTES).map_err(|text| Refusal::invalid(at("name"), text))?;
        }
        check_count(|| field.at("tools_used"), self.tools_used.len(), MAX_TOOL_CALLS)?;
        for (index, tool) in self.tools_used.iter().enumerate() {
            let at = || field.at(format_args!("tools_used[{index}]"));
            check_text(tool, MAX_NAME_BYTES).map_err(|text| Refusal::invalid(at(), text))?;
        }
        check_map(|| field.at("metadata"), &self.metadata)
    }

    fn check_role(&self, field: Field<'_>, role: Role) -> Result<()> {
        let only = |given: bool, name: &str, wanted: Role| match given && role != wanted {
            true => {
                let text =
                    format!("is accepted only with the role {}, not with {}", wanted.as_str(), role.as_str());
                Err(Refusal::invalid(field.at(name), text))
            }
            false => Ok(()),
        };
        only(!self.tool_calls.is_empty(), "tool_calls", Role::Assistant)?;
        only(!self.tools_used.is_empty(), "tools_used", Role::Assistant)?;
        only(self.awaits_answer, "awaits_answer", Role::Assistant)?;
        only(self.tool_call_id.is_some(), "tool_call_id", Role::Tool)
    }
}

/// Checks a map of the caller's notes: metadata or labels. `field` is its place in the request.
pub fn check_map(field: impl Fn() -> String, map: &BTreeMap<String, String>) -> Result<()> {
    check_count(&field, map.len(), MAX_MAP_ENTRIES)?;
    for (key, value) in map {
        if key.is_empty() || key.len() > MAX_MAP_KEY_BYTES {
            let text = format!("a key has {} bytes; accepted: 1 to {MAX_MAP_KEY_BYTES}", key.len());
            return Err(Refusal::invalid(field(), text));
        }
        if value.len() > MAX_MAP_VALUE_BYTES {
            let text =
                format!("the value has {} bytes; accepted: at most {MAX_MAP_VALUE_BYTES}", value.len());
            return Err(Refusal::invalid(format!("{}[{key:?}]", field()), text));
        }
    }
    Ok(())
}

fn check_count(field: impl FnOnce() -> String, count: usize, most: usize) -> Result<()> {
    match count > most {
        true => Err(Refusal::invalid(field(), format!("has {count} entries; accepted: at most {most}"))),
        false => Ok(()),
    }
}

fn check_text(text: &str, most: usize) -> Result<(), String> {
    if text.is_empty() || text.len() > most {
        return Err(format!("has {} bytes; accepted: 1 to {most}", text.len()));
    }
    match text.chars().any(char::is_control) {
        true => {
            Err(format!("holds a control character; accepted: 1 to {most} bytes without control characters"))
        }
        false => Ok(()),
    }
}
