//! A JSON array of messages in the form of OpenAI's chat or Anthropic's messages.
//!
//! The fields read are `role`, `content` (text, or blocks), `name`, `tool_calls` and `tool_call_id`; other
//! fields are the caller's own. Text blocks become one text, separated by empty lines; `tool_use` and
//! `tool_result` become calls and results. Everything else (images, thinking) is left out, with a warning.

use serde_json::{Map, Value};

use crate::{
    domain::{
        Draft, More, Reason, Refusal, Role, ToolCall,
        history::{DropReason, Entry},
        limits::MAX_HISTORY_WEIGHT,
        quoted,
    },
    formats::{
        history::{Incoming, MAX_MESSAGES_READ, Warning, WarningKind, said},
        place::kind,
        surrogates::replace_surrogates,
        weight::weight,
    },
};

/// The field of the request.
const FIELD: &str = "messages_json";

/// Reads a history; unusable messages are recorded as dropped.
///
/// Lone surrogates, which programs write that cut text anywhere, become U+FFFD.
///
/// Refuses anything that is not a JSON array or has more than [`MAX_MESSAGES_READ`] messages.
pub fn read(json: &str) -> Result<Incoming, Refusal> {
    if weight(json.as_bytes()) > MAX_HISTORY_WEIGHT {
        let text = format!("has too many parts: parsed, it takes more than {MAX_HISTORY_WEIGHT} bytes");
        return Err(Refusal::field(Reason::ContentTooLarge, FIELD, text));
    }
    let value: Value = serde_json::from_str(&replace_surrogates(json)).map_err(|error| {
        Refusal::invalid(FIELD, format!("is not JSON ({error}); accepted: an array of messages"))
    })?;
    let Value::Array(messages) = value else {
        let text = format!("is {}; accepted: an array of messages", kind(&value));
        return Err(Refusal::invalid(FIELD, text));
    };
    if messages.len() > MAX_MESSAGES_READ {
        let text = format!("has {} messages; accepted: at most {MAX_MESSAGES_READ}", messages.len());
        return Err(Refusal::field(Reason::BatchTooLarge, FIELD, text));
    }
    let mut incoming = Incoming::of(FIELD, messages.len(), json.len());
    for (index, message) in messages.into_iter().enumerate() {
        match message_of(message) {
            Ok(message) => message.into(index, &mut incoming),
            Err(Unread { reason, text }) => incoming.drop(index, reason, format!("{FIELD}[{index}]{text}")),
        }
    }
    Ok(incoming)
}

/// Why a message cannot be read; the text follows its place.
struct Unread {
    reason: DropReason,
    text: String,
}

impl Unread {
    fn new(reason: DropReason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }
}

/// The content of one message.
struct Message {
    role: Role,
    name: Option<Box<str>>,
    text: Vec<String>,
    calls: Vec<ToolCall>,
    results: Vec<Draft>,
    /// The types of the parts that are not carried over.
    left_out: Vec<String>,
}

impl Message {
    /// Adds the utterances of the message: its results, and its text and calls.
    fn into(self, index: usize, incoming: &mut Incoming) {
        let Self { role, name, text, calls, results, left_out } = self;
        let only_parts = text.is_empty() && calls.is_empty() && results.is_empty() && !left_out.is_empty();
        let place = format!("{FIELD}[{index}]");
        if only_parts {
            let text = format!("{place}: content has nothing but blocks of {left_out:?}; accepted: text");
            return incoming.drop(index, DropReason::InvalidContent, text);
        }
        if !left_out.is_empty() {
            let text = format!("{place}: blocks of {left_out:?} were left out; accepted: text");
            incoming.warnings.push(Warning { kind: WarningKind::PartsLeftOut, text });
        }
        let alone = results.is_empty();
        let entry = |draft| Entry { index: Some(index), draft };
        incoming.entries.extend(results.into_iter().map(entry));
        if alone || !text.is_empty() || !calls.is_empty() {
            let more = More { name, tool_calls: calls, ..More::default() };
            incoming.entries.push(entry(with(said(role, &text.join("\n\n")), more)));
        }
    }
}

fn with(draft: Draft, more: More) -> Draft {
    Draft { more: Some(Box::new(more)), ..draft }
}

fn message_of(message: Value) -> Result<Message, Unread> {
    let Value::Object(mut fields) = message else {
        let text = format!(" is {}; accepted: an object with role and content", kind(&message));
        return Err(Unread::new(DropReason::NotAMessage, text));
    };
    let role = role(fields.get("role"))?;
    let name = fields.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).map(Into::into);
    let mut read = Message { role, name, text: vec![], calls: vec![], results: vec![], left_out: vec![] };
    read.content(fields.remove("content"))?;
    if role == Role::Assistant {
        if read.text.is_empty() {
            read.text.extend(fields.get("refusal").and_then(Value::as_str).map(str::to_owned));
        }
        read.tool_calls(fields.remove("tool_calls"))?;
    }
    if role == Role::Tool {
        read.answer(&fields)?;
    }
    Ok(read)
}

fn role(role: Option<&Value>) -> Result<Role, Unread> {
    let accepted = format!("accepted: {}", Role::ACCEPTED);
    let text = match role {
        None => format!(" has no role; {accepted}"),
        Some(Value::String(word)) => match Role::named(word) {
            Some(role) => return Ok(role),
            None => format!(".role is {}; {accepted}", quoted(word)),
        },
        Some(other) => format!(".role is {}; {accepted}", kind(other)),
    };
    Err(Unread::new(DropReason::UnknownRole, text))
}

impl Message {
    fn content(&mut self, content: Option<Value>) -> Result<(), Unread> {
        match content {
            None | Some(Value::Null) => Ok(()),
            Some(Value::String(text)) => {
                self.say(&text);
                Ok(())
            }
            Some(Value::Array(blocks)) => {
                blocks.into_iter().enumerate().try_for_each(|(number, block)| self.block(number, block))
            }
            Some(other) => {
                let text = format!(".content is {}; accepted: text and blocks of text", kind(&other));
                Err(Unread::new(DropReason::InvalidContent, text))
            }
        }
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push(text.to_owned());
        }
    }

    fn block(&mut self, number: usize, block: Value) -> Result<(), Unread> {
        let fields = match block {
            Value::String(text) => {
                self.say(&text);
                return Ok(());
            }
            Value::Object(fields) => fields,
            other => {
                let text = format!(".content[{number}] is {}; accepted: a block of text", kind(&other));
                return Err(Unread::new(DropReason::InvalidContent, text));
            }
        };
        match (text_field(&fields, "type"), self.role) {
            ("text" | "input_text" | "output_text", _) => self.say(text_field(&fields, "text")),
            ("refusal", _) => self.say(text_field(&fields, "refusal")),
            ("tool_use", Role::Assistant) => self.tool_use(number, fields)?,
            ("tool_result", Role::User) => self.tool_result(number, &fields)?,
            (other, _) => self.left_out.push(other.to_owned()),
        }
        Ok(())
    }

    fn tool_use(&mut self, number: usize, mut fields: Map<String, Value>) -> Result<(), Unread> {
        let arguments = fields.remove("input");
        let call = call(text_field(&fields, "id"), text_field(&fields, "name"), arguments);
        self.calls.push(
            call.map_err(|text| {
                Unread::new(DropReason::InvalidToolCall, format!(".content[{number}]{text}"))
            })?,
        );
        Ok(())
    }

    fn tool_result(&mut self, number: usize, fields: &Map<String, Value>) -> Result<(), Unread> {
        let id = text_field(fields, "tool_use_id");
        if id.is_empty() {
            let text =
                format!(".content[{number}] has no tool_use_id; accepted: the id of an earlier tool_use");
            return Err(Unread::new(DropReason::OrphanedResult, text));
        }
        let mut inside = Self {
            role: Role::Tool,
            name: None,
            text: vec![],
            calls: vec![],
            results: vec![],
            left_out: vec![],
        };
        inside.content(fields.get("content").cloned())?;
        self.left_out.append(&mut inside.left_out);
        let more = More { tool_call_id: Some(id.into()), ..More::default() };
        self.results.push(with(said(Role::Tool, &inside.text.join("\n\n")), more));
        Ok(())
    }

    fn tool_calls(&mut self, calls: Option<Value>) -> Result<(), Unread> {
        let calls = match calls {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(calls)) => calls,
            Some(other) => {
                let text = format!(".tool_calls is {}; accepted: an array of calls", kind(&other));
                return Err(Unread::new(DropReason::InvalidToolCall, text));
            }
        };
        for (number, mut called) in calls.into_iter().enumerate() {
            let arguments = called.pointer_mut("/function/arguments").map(Value::take);
            let part = |pointer| called.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let call = call(part("/id"), part("/function/name"), arguments);
            self.calls.push(call.map_err(|text| {
                Unread::new(DropReason::InvalidToolCall, format!(".tool_calls[{number}]{text}"))
            })?);
        }
        Ok(())
    }

    /// A tool message is a result and nothing else.
    fn answer(&mut self, fields: &Map<String, Value>) -> Result<(), Unread> {
        let id = text_field(fields, "tool_call_id");
        if id.is_empty() {
            let text = " has no tool_call_id; accepted: the id of an earlier call";
            return Err(Unread::new(DropReason::OrphanedResult, text));
        }
        let text = std::mem::take(&mut self.text).join("\n\n");
        let more = More { tool_call_id: Some(id.into()), ..More::default() };
        self.results.push(with(said(Role::Tool, &text), more));
        Ok(())
    }
}

/// Makes a call; arguments that are not text are written as JSON.
fn call(id: &str, name: &str, arguments: Option<Value>) -> Result<ToolCall, String> {
    if id.is_empty() || name.is_empty() {
        let missing = if id.is_empty() { "id" } else { "name" };
        return Err(format!(
            " has no {missing}; accepted: calls of functions, with an id, a name and arguments"
        ));
    }
    let arguments_json = match arguments {
        None | Some(Value::Null) => "{}".into(),
        Some(Value::String(text)) => text.into(),
        Some(other) => other.to_string().into(),
    };
    Ok(ToolCall { id: id.into(), name: name.into(), arguments_json })
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}
