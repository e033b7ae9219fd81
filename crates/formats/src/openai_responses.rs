//! OpenAI's Responses items.
//!
//! An assistant utterance is what the model put out in one go: reasoning and calls of built-in tools (kept
//! verbatim), a message, and function calls. Every other item is an utterance of its own.

use serde_json::{Map, Value, json};

use crate::{
    Format, Losses, Repairs, Sourced, Whole,
    extras::{self, Parts, hole},
    fields::{answered, array, call, check_content, fit, object, take_arguments, take_content, take_fit},
    place::{Notes, Place},
    provider::{LeftOut, Provider, rename, strip},
    texts::{self, OUTPUT},
    whole::Written,
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall, context,
    exchange::call_ids::Rule,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
};

/// How its messages are written.
pub const PROVIDER: Provider = Provider {
    format: Format::OpenAiResponses,
    wording: context::Format::OpenAiChat,
    ids: Rule::OPENAI_RESPONSES,
    checks_names: false,
    canonical,
    sent,
    lists: &["input", "output", "items", "data"],
    read: read_all,
};

/// The fields of a call that may hold what its tool gets.
const INPUTS: [&str; 5] = ["arguments", "input", "action", "operation", "code"];
/// Marks text that came in a request's `instructions`.
const INSTRUCTIONS: &str = "instructions";
/// Marks text that was a request's whole `input`.
const TEXT: &str = "text";

/// Whether the API refuses a field of an item or a part of this type.
fn refuses(kind: &str, field: &str, _: &Value) -> bool {
    // what OpenAI's packages add to an answer that they parse
    matches!((kind, field), ("output_text", "parsed") | ("function_call", "parsed_arguments"))
}

/// The items of `parts` in this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    if parts.role == Role::Tool {
        let call = parts.tool_call_id().map(|_| hole("tool_call_id"));
        return json!([{"type": "function_call_output", "call_id": call, "output": hole("content")}]);
    }
    let message = json!({"type": "message", "role": parts.role.as_str(), "content": hole("content")});
    let speaks = !parts.content.is_empty() || parts.calls().is_empty();
    let call = |index: usize| {
        let part = |part: &str| hole(format!("calls/{index}/{part}"));
        json!({"type": "function_call", "call_id": part("id"), "name": part("name"), "arguments": part("arguments")})
    };
    speaks.then_some(message).into_iter().chain((0..parts.calls().len()).map(call)).collect()
}

/// Writes the conversation: an array of items, or the object that it came in.
pub fn export(whole: &Whole<'_>, repairs: Repairs, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let (mut instructions, mut text, mut all) = (None, None, Vec::new());
    for Written { line, kept, values } in whole.written(&said, &PROVIDER, repairs, losses) {
        let content = || line.parts().content.to_owned();
        let is_marked = |mark: &str| kept.as_ref().is_some_and(|kept| kept.get(mark).is_some());
        if is_marked(INSTRUCTIONS) {
            instructions = Some(content());
            continue;
        }
        text = is_marked(TEXT).then(content);
        all.extend(values);
    }
    let input = text.filter(|_| all.len() == 1).map_or(Value::Array(all), Value::String);
    let mut written = PROVIDER.enclosed(input, &said);
    if let (Some(text), Value::Object(document)) = (instructions, &mut written) {
        document.insert(INSTRUCTIONS.into(), text.into());
    }
    written
}

/// The items of `parts` as they came (`rendered`), without what the API refuses.
fn sent(parts: &Parts<'_>, rendered: Vec<Value>, left_out: &mut LeftOut) -> Vec<Value> {
    let mut items = rendered;
    let exchange = ["function_call", "function_call_output"];
    rename(&mut items, &PROVIDER.plain(parts), exchange, &["call_id", "name", "arguments"]);
    items.iter_mut().for_each(|item| strip(item, "", refuses, left_out));
    items.retain(|item| item["content"] != "");
    items
}

/// Reads the items, or the text in their place, and the `instructions` beside them.
fn read_all(
    items: Value,
    around: &mut Map<String, Value>,
    list: &Place<'_>,
    notes: &mut Notes,
) -> Result<Vec<Sourced>> {
    let instructions = around.get_mut(INSTRUCTIONS).filter(|it| it.is_string());
    let mut said = Vec::new();
    if let Some(Value::String(text)) = instructions.map(Value::take) {
        said.push(marked(Role::System, text, INSTRUCTIONS));
    }
    match items {
        Value::String(text) => said.push(marked(Role::User, text, TEXT)),
        items => {
            said.extend(items_of(array(items, list, "an array of items, or text")?, false, list, notes)?)
        }
    }
    Ok(said)
}

/// Reads items; with `apart`, each into an utterance of its own, even if the model put out several in one go.
pub fn items_of(
    items: Vec<Value>,
    apart: bool,
    place: &Place<'_>,
    notes: &mut Notes,
) -> Result<Vec<Sourced>> {
    let mut reader = Reader { said: Vec::new(), output: None, apart, notes };
    for (index, item) in items.into_iter().enumerate() {
        reader.item(item, index, &place.index(index))?;
    }
    reader.end_output();
    Ok(reader.said)
}

/// Text of a request outside its items.
fn marked(role: Role, text: String, mark: &str) -> Sourced {
    let mut draft = Draft::of(role, text, More::default());
    extras::keep(&mut draft, PROVIDER.format, Map::from_iter([(mark.into(), true.into())]));
    Sourced { index: 0, draft }
}

struct Reader<'n> {
    said: Vec<Sourced>,
    output: Option<Output>,
    /// Do not join what the model puts out in one go into one utterance.
    apart: bool,
    notes: &'n mut Notes,
}

/// The model's output in one go, so far.
#[derive(Default)]
struct Output {
    index: usize,
    /// Whether it has a message.
    says: bool,
    calls: Vec<ToolCall>,
    source: Vec<Value>,
    hollow: Vec<Value>,
}

impl Reader<'_> {
    fn item(&mut self, item: Value, index: usize, place: &Place<'_>) -> Result<()> {
        let source = item.clone();
        let mut fields = object(item, place, "an item: an object")?;
        let kind = kind(&fields, place)?;
        if let Some(draft) = self.own(&kind, &mut fields, place)? {
            self.end_output();
            self.keep(draft, vec![source], Value::Array(vec![fields.into()]), index);
            return Ok(());
        }
        let (is_message, is_call) = (kind == "message", has_text(&fields, "call_id"));
        let is_said = |output: &Output| output.says || !output.calls.is_empty();
        let ends = |output: &Output| self.apart || ((is_message || !is_call) && is_said(output));
        if self.output.as_ref().is_some_and(ends) {
            self.end_output();
        }
        let output = self.output.get_or_insert_with(|| Output { index, ..Output::default() });
        output.says |= is_message;
        if is_call && !is_message {
            let call = called(&kind, &mut fields, output.calls.len(), place)?;
            output.calls.push(call);
        }
        output.source.push(source);
        output.hollow.push(fields.into());
        Ok(())
    }

    /// The utterance that an item is by itself: a message that is not the model's, or a result.
    fn own(
        &mut self,
        kind: &str,
        fields: &mut Map<String, Value>,
        place: &Place<'_>,
    ) -> Result<Option<Draft>> {
        let (has_call, has_id) = (has_text(fields, "call_id"), has_text(fields, "id"));
        let own = match kind {
            "message" => {
                let role = self.notes.role(fields, place)?;
                check_content(fields, "content", place)?;
                (role != Role::Assistant).then(|| message(role, fields, place)).transpose()?
            }
            _ if kind.ends_with(OUTPUT) && has_call => Some(result("call_id", fields, place)?),
            // a shell's output has the id of its call as its own
            _ if kind.ends_with("_call_output") && has_id => Some(result("id", fields, place)?),
            _ => None,
        };
        Ok(own)
    }

    fn end_output(&mut self) {
        let Some(Output { index, calls, source, hollow, .. }) = self.output.take() else { return };
        let mut hollow = Value::Array(hollow);
        let content = texts::take(&mut hollow);
        let draft = Draft::of(Role::Assistant, content, More { tool_calls: calls, ..More::default() });
        self.keep(draft, source, hollow, index);
    }

    fn keep(&mut self, mut draft: Draft, source: Vec<Value>, hollow: Value, index: usize) {
        PROVIDER.keep_difference(&mut draft, &Value::Array(source), &hollow);
        self.said.push(Sourced { index, draft });
    }
}

/// The type of an item; one with a role and without a type is a message.
fn kind(fields: &Map<String, Value>, place: &Place<'_>) -> Result<String> {
    match fields.get("type") {
        Some(Value::String(kind)) => Ok(kind.clone()),
        None | Some(Value::Null) if fields.contains_key("role") => Ok("message".to_owned()),
        None | Some(Value::Null) => Err(place.refuse("has neither a type nor a role")),
        Some(other) => Err(place.field("type").refuse_kind(other, "text")),
    }
}

fn has_text(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).is_some_and(Value::is_string)
}

fn message(role: Role, fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<Draft> {
    let tool_call_id = answered(fields).filter(|_| role == Role::Tool);
    let content = take_content(fields, "content", place)?;
    Ok(Draft::of(role, content, More { tool_call_id, ..More::default() }))
}

/// Reads the result of the call that the field `call` names.
fn result(call: &str, fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<Draft> {
    let id = take_fit(fields, call, "tool_call_id", MAX_ID_BYTES, place)?;
    let content = match fields.get_mut("output") {
        Some(output @ Value::Object(_)) => texts::take(output),
        _ => take_content(fields, "output", place)?,
    };
    Ok(Draft::of(Role::Tool, content, More { tool_call_id: id.map(Into::into), ..More::default() }))
}

fn called(kind: &str, fields: &mut Map<String, Value>, index: usize, place: &Place<'_>) -> Result<ToolCall> {
    let part = |part: &str| format!("calls/{index}/{part}");
    let id = take_fit(fields, "call_id", &part("id"), MAX_ID_BYTES, place)?;
    let name = take_fit(fields, "name", &part("name"), MAX_NAME_BYTES, place)?;
    let input = INPUTS.into_iter().find(|name| fields.contains_key(*name)).unwrap_or_default();
    let arguments = take_arguments(fields, input, index);
    let name = name.unwrap_or_else(|| fit(kind.trim_end_matches("_call"), MAX_NAME_BYTES).into_owned());
    Ok(call(id, name, arguments))
}
