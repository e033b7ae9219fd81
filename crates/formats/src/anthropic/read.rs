//! Reads Anthropic's messages, and says what the API demands of them.

use serde_json::{Map, Value, json};

use crate::{
    Format, Sourced,
    extras::{self, MESSAGE, Parts, hole},
    fields::{answered, array, call, is_text, object, take_arguments, take_content, take_fit, take_tool},
    place::{Notes, Place},
    provider::{FRAMEWORKS, LeftOut, Provider, rename, strip},
    texts,
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall, context, exchange::call_ids::Rule, limits::MAX_ID_BYTES,
};

/// How its messages are written.
pub const PROVIDER: Provider = Provider {
    format: Format::Anthropic,
    wording: context::Format::AnthropicMessages,
    ids: Rule::ANTHROPIC,
    checks_names: false,
    canonical,
    sent,
    lists: &["messages"],
    read: read_all,
};

/// Marks an utterance that begins a message although the previous one is on the same side.
pub(super) const STARTS: &str = "starts";
/// Marks a message whose content is text where blocks are usual, or vice versa.
pub(super) const FORM: &str = "form";
/// The position of a result in its message, if it does not precede everything else.
pub(super) const AT: &str = "at";
/// Marks the content of the request's `system`.
pub(super) const SYSTEM: &str = "system";

/// The fields of a message that tell about an answer, and are no part of it. Requests have no others than the role and
/// the content.
const ABOUT: &str =
    "container context_management id model role stop_details stop_reason stop_sequence type usage";

/// Whether the API refuses a field of a block of this type.
fn refuses(kind: &str, field: &str, value: &Value) -> bool {
    match (kind, field) {
        // what is the case without it
        ("tool_use", "caller") => value["type"] == "direct",
        // a request may have only a few, which its maker sets
        (_, "cache_control") => true,
        _ => false,
    }
}

/// The name of a block that the API refuses; empty for a blank text.
fn refused(block: &Value) -> Option<&'static str> {
    match block["type"].as_str()? {
        "text" if block["text"].as_str().is_some_and(|text| text.trim().is_empty()) => Some(""),
        "thinking" if !is_text(&block["signature"]) => Some("thinking without a signature"),
        "redacted_thinking" if !is_text(&block["data"]) => Some("redacted_thinking without data"),
        _ => None,
    }
}

/// The content blocks of `parts` in this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    if parts.role == Role::Tool {
        let call = parts.tool_call_id().map(|_| hole("tool_call_id"));
        return json!([{"type": "tool_result", "tool_use_id": call, "content": hole("content")}]);
    }
    let text = (!parts.content.is_empty()).then(|| json!({"type": "text", "text": hole("content")}));
    let call = |(index, call): (usize, &utterd_domain::ToolCall)| {
        let part = |part: &str| hole(format!("calls/{index}/{part}"));
        let input = match serde_json::from_str(&call.arguments_json) {
            Ok(Value::Object(_)) => part("input"),
            // an input is always an object
            _ if call.arguments_json.is_empty() => json!({}),
            _ => json!({"arguments": part("arguments")}),
        };
        json!({"type": "tool_use", "id": part("id"), "name": part("name"), "input": input})
    };
    text.into_iter().chain(parts.calls().iter().enumerate().map(call)).collect()
}

/// The side of the conversation that `role` is on: everything but the assistant is on the user's.
pub fn side(role: Role) -> &'static str {
    match role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}

/// The blocks of `parts` as they came (`rendered`), without what the API refuses. Empty if nothing is said or called.
fn sent(parts: &Parts<'_>, rendered: Vec<Value>, left_out: &mut LeftOut) -> Vec<Value> {
    let mut blocks = rendered;
    if !name_calls(&mut blocks, parts) {
        blocks = PROVIDER.plain(parts);
    }
    blocks.iter_mut().for_each(|block| strip(block, "", refuses, left_out));
    retain(&mut blocks, left_out);
    if parts.role == Role::System {
        // instructions are texts
        let other = blocks.extract_if(.., |block| block["type"] != "text");
        left_out.extend(other.map(|block| texts::kind(&block).to_owned()));
    }
    if blocks.iter().all(|block| texts::is_thought(texts::kind(block))) {
        // a message of nothing but thoughts is refused
        left_out.extend(blocks.drain(..).map(|block| texts::kind(&block).to_owned()));
    }
    blocks
}

/// Removes the blocks that the API refuses, also from results.
fn retain(blocks: &mut Vec<Value>, left_out: &mut LeftOut) {
    blocks.retain(|block| {
        let refused = refused(block);
        left_out.extend(refused.filter(|name| !name.is_empty()).map(str::to_owned));
        refused.is_none()
    });
    for block in blocks.iter_mut().filter(|block| block["type"] == "tool_result") {
        if let Some(Value::Array(content)) = block.get_mut("content") {
            retain(content, left_out);
        }
    }
}

/// Puts the ids, the names and the inputs of `parts` into blocks as they came; returns whether these are its calls.
pub fn name_calls(blocks: &mut [Value], parts: &Parts<'_>) -> bool {
    let fields = ["id", "name", "input", "tool_use_id"];
    rename(blocks, &PROVIDER.plain(parts), ["tool_use", "tool_result"], &fields)
}

/// Removes texts that hold only white space.
pub(super) fn remove_blank(blocks: &mut Vec<Value>) {
    blocks.retain(|block| refused(block) != Some(""));
}

/// The fields of the message of `parts` that a request has no place for.
pub fn left_of_message(parts: &Parts<'_>) -> Vec<String> {
    let kept = parts.kept(PROVIDER.format).unwrap_or_default();
    let fields = kept[MESSAGE].as_object().into_iter().flatten();
    let silent = |name: &str| texts::listed(ABOUT, name) || texts::listed(FRAMEWORKS, name);
    fields.filter(|(name, _)| !silent(name)).map(|(name, _)| name.clone()).collect()
}

/// Reads the messages, and the `system` beside them.
fn read_all(
    messages: Value,
    around: &mut Map<String, Value>,
    list: &Place<'_>,
    notes: &mut Notes,
) -> Result<Vec<Sourced>> {
    let mut reader = Reader { said: Vec::new(), notes };
    if let Some(value) = around.shift_remove("system") {
        reader.system(value, &list.beside("system"))?;
    }
    for (index, value) in array(messages, list, "an array of messages")?.into_iter().enumerate() {
        reader.message(value, index, &list.index(index))?;
    }
    Ok(reader.said)
}

/// Reads a message: a draft for each result, and one for the rest.
pub fn read(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Vec<Draft>> {
    let mut reader = Reader { said: Vec::new(), notes };
    reader.message(value, 0, place)?;
    Ok(reader.said.into_iter().map(|sourced| sourced.draft).collect())
}

/// Keeps a detail of a draft.
fn keep(draft: &mut Draft, name: &str, value: impl Into<Value>) {
    extras::keep(draft, PROVIDER.format, Map::from_iter([(name.to_owned(), value.into())]));
}

struct Reader<'n> {
    said: Vec<Sourced>,
    notes: &'n mut Notes,
}

impl Reader<'_> {
    /// The request's instructions: text or blocks of text.
    fn system(&mut self, value: Value, place: &Place<'_>) -> Result<()> {
        let (content, hollow, form) = match value.clone() {
            Value::Null => return Ok(()),
            Value::String(text) => (text, Value::Null, "text"),
            blocks => {
                let mut blocks = Value::Array(array(blocks, place, "text or an array of blocks")?);
                (texts::take(&mut blocks), blocks, "blocks")
            }
        };
        let mut draft = Draft::of(Role::System, content, More::default());
        if form == "blocks" {
            PROVIDER.keep_difference(&mut draft, &value, &hollow);
        }
        keep(&mut draft, SYSTEM, form);
        self.said.push(Sourced { index: 0, draft });
        Ok(())
    }

    fn message(&mut self, value: Value, index: usize, place: &Place<'_>) -> Result<()> {
        let mut fields = object(value, place, "a message: an object with a role and content")?;
        let role = self.role(&mut fields, place)?;
        let content = fields.shift_remove("content").unwrap_or_default();
        let first = self.said.len();
        match content {
            Value::String(text) => {
                let mut draft = Draft::of(role, text, More::default());
                if matches!(role, Role::Assistant | Role::Tool) {
                    keep(&mut draft, FORM, "text");
                }
                self.said.push(Sourced { index, draft });
            }
            Value::Array(blocks) => self.blocks(role, blocks, index, &place.field("content"))?,
            other => return Err(place.field("content").refuse_kind(&other, "text or an array of blocks")),
        }
        if let Some(id) = answered(&fields).filter(|_| role == Role::Tool) {
            self.said[first].draft.more.get_or_insert_default().tool_call_id = Some(id);
        }
        if !fields.is_empty() {
            keep(&mut self.said[first].draft, MESSAGE, fields);
        }
        let before = first.checked_sub(1).map(|before| &self.said[before].draft);
        let merges = before.is_some_and(|before| {
            side(before.role) == side(role)
                && Parts::from(before).kept(PROVIDER.format).is_none_or(|kept| kept.get(SYSTEM).is_none())
        });
        if merges {
            keep(&mut self.said[first].draft, STARTS, true);
        }
        Ok(())
    }

    /// Reads the role; a spelling that is not Anthropic's stays among the message's fields.
    fn role(&mut self, fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<Role> {
        let role = self.notes.role(fields, place)?;
        if fields["role"] == role.as_str() && matches!(role, Role::User | Role::Assistant) {
            fields.shift_remove("role");
        }
        Ok(role)
    }

    fn blocks(&mut self, role: Role, blocks: Vec<Value>, index: usize, place: &Place<'_>) -> Result<()> {
        let is_result = |block: &Value| block.get("type").is_some_and(|kind| kind == "tool_result");
        let mut rest = Vec::new();
        let mut results = Vec::new();
        for (at, block) in blocks.into_iter().enumerate() {
            match role == Role::User && is_result(&block) {
                true => results.push((at, block)),
                false => rest.push(block),
            }
        }
        let alone = results.is_empty();
        for (number, (at, block)) in results.into_iter().enumerate() {
            let mut draft = result(block, &place.index(at))?;
            if at != number {
                keep(&mut draft, AT, at);
            }
            self.said.push(Sourced { index, draft });
        }
        if !rest.is_empty() || alone {
            let mut draft = said(role, rest, place)?;
            if alone && role != Role::Assistant {
                keep(&mut draft, FORM, "blocks");
            }
            self.said.push(Sourced { index, draft });
        }
        Ok(())
    }
}

/// Reads the blocks of one message other than its results.
fn said(role: Role, blocks: Vec<Value>, place: &Place<'_>) -> Result<Draft> {
    let source = Value::Array(blocks.clone());
    let mut blocks = blocks;
    let mut calls = Vec::new();
    for (index, block) in blocks.iter_mut().enumerate().filter(|_| role == Role::Assistant) {
        if block.get("type").is_some_and(|kind| kind == "tool_use") {
            calls.push(called(block, calls.len(), &place.index(index))?);
        }
    }
    let mut hollow = Value::Array(blocks);
    let content = texts::take(&mut hollow);
    let mut draft = Draft::of(role, content, More { tool_calls: calls, ..More::default() });
    PROVIDER.keep_difference(&mut draft, &source, &hollow);
    Ok(draft)
}

fn called(block: &mut Value, number: usize, place: &Place<'_>) -> Result<ToolCall> {
    let Value::Object(fields) = block else { return Err(place.refuse_kind(block, "a block: an object")) };
    let id = take_fit(fields, "id", &format!("calls/{number}/id"), MAX_ID_BYTES, place)?;
    let name = take_tool(fields, number, place)?;
    Ok(call(id, name, take_arguments(fields, "input", number)))
}

fn result(block: Value, place: &Place<'_>) -> Result<Draft> {
    let source = Value::Array(vec![block.clone()]);
    let mut fields = object(block, place, "a block: an object")?;
    let id = take_fit(&mut fields, "tool_use_id", "tool_call_id", MAX_ID_BYTES, place)?;
    let content = take_content(&mut fields, "content", place)?;
    let more = More { tool_call_id: id.map(Into::into), ..More::default() };
    let mut draft = Draft::of(Role::Tool, content, more);
    PROVIDER.keep_difference(&mut draft, &source, &json!([fields]));
    Ok(draft)
}
