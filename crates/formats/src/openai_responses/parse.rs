//! Reads items into drafts.

use serde_json::{Map, Value};

use crate::{
    Format, Parsed, Sourced, extras,
    fields::{answered, array, check_content, fit, fit_id, object, take_arguments, take_content, take_fit},
    notes::Notes,
    openai_responses::{INSTRUCTIONS, LISTS, TEXT, canonical},
    place::Place,
    repair,
    texts::{self, OUTPUT},
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
};

/// The format of this file.
const FORMAT: Format = Format::OpenAiResponses;

/// Reads a conversation: an array of items, or an object that holds one as `input`, `output`, `items` or
/// `data`, with `instructions` and any other fields, which are kept.
pub fn conversation(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let (items, mut document, list) = match value {
        Value::Object(mut fields) => {
            let Some(list) = LISTS.iter().find(|list| fields.contains_key(**list)) else {
                return Err(place.refuse(format!("has none of {}", LISTS.join(", "))));
            };
            let items = fields.insert((*list).to_owned(), Value::Null).unwrap_or_default();
            (items, Some(fields), place.field(list))
        }
        items => (items, None, *place),
    };
    let mut reader = Reader { said: Vec::new(), output: None, apart: false, notes };
    if let Some(text) = document.as_mut().and_then(instructions) {
        reader.said.push(Sourced { index: 0, draft: marked(Role::System, text, INSTRUCTIONS) });
    }
    let items = match items {
        Value::String(text) => {
            reader.said.push(Sourced { index: 0, draft: marked(Role::User, text, TEXT) });
            Vec::new()
        }
        items => array(items, &list, "an array of items, or text")?,
    };
    for (index, item) in items.into_iter().enumerate() {
        reader.item(item, index, &list.index(index))?;
    }
    reader.end_output();
    let Reader { mut said, .. } = reader;
    repair::mark(FORMAT, &mut said);
    let id = document.as_ref().and_then(|document| Some(document.get("id")?.as_str()?.to_owned()));
    extras::keep_document(&mut said, FORMAT, document, notes, place);
    Ok(Parsed { id, list: list.to_string(), said, ..Parsed::default() })
}

/// Reads items, each into an utterance of its own.
pub fn items_apart(items: Vec<Value>, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let mut reader = Reader { said: Vec::new(), output: None, apart: true, notes };
    for (index, item) in items.into_iter().enumerate() {
        reader.item(item, index, &place.index(index))?;
    }
    reader.end_output();
    Ok(Parsed { list: place.to_string(), said: reader.said, ..Parsed::default() })
}

/// The instructions of a request, if they are text.
fn instructions(document: &mut Map<String, Value>) -> Option<String> {
    match document.get_mut("instructions") {
        Some(value @ Value::String(_)) => value.take().as_str().map(str::to_owned),
        _ => None,
    }
}

/// Text of a request outside its items.
fn marked(role: Role, text: String, mark: &str) -> Draft {
    let mut draft = Draft::of(role, text, More::default());
    extras::keep(&mut draft, FORMAT, Map::from_iter([(mark.into(), true.into())]));
    draft
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
        let fields = object(item, place, "an item: an object")?;
        let kind = match (fields.get("type"), fields.contains_key("role")) {
            (Some(Value::String(kind)), _) => kind.clone(),
            (None | Some(Value::Null), true) => "message".to_owned(),
            (Some(other), _) if !other.is_null() => {
                return Err(place.field("type").refuse_kind(other, "text"));
            }
            _ => return Err(place.refuse("has neither a type nor a role")),
        };
        if kind == "message" {
            return self.message(source, fields, index, place);
        }
        let names = |name: &str| fields.get(name).is_some_and(Value::is_string);
        match names("call_id") {
            true if kind.ends_with(OUTPUT) => self.result("call_id", source, fields, index, place),
            true => self.call(&kind, source, fields, index, place),
            // a shell's output has the id of its call as its own
            false if kind.ends_with("_call_output") && names("id") => {
                self.result("id", source, fields, index, place)
            }
            _ => {
                self.output(index, Output::is_said).add(source, fields);
                Ok(())
            }
        }
    }

    fn message(
        &mut self,
        source: Value,
        mut fields: Map<String, Value>,
        index: usize,
        place: &Place<'_>,
    ) -> Result<()> {
        let role = self.notes.role(&fields, place)?;
        check_content(&fields, "content", place)?;
        if role != Role::Assistant {
            let tool_call_id = answered(&fields).filter(|_| role == Role::Tool);
            let content = fields.get_mut("content").map(texts::take).unwrap_or_default();
            let more = More { tool_call_id, ..More::default() };
            return self.push(Draft::of(role, content, more), source, fields, index);
        }
        let output = self.output(index, Output::is_said);
        output.says = true;
        output.add(source, fields);
        Ok(())
    }

    /// Reads the result of the call that the field `call` names.
    fn result(
        &mut self,
        call: &str,
        source: Value,
        mut fields: Map<String, Value>,
        index: usize,
        place: &Place<'_>,
    ) -> Result<()> {
        let id = take_fit(&mut fields, call, "tool_call_id", MAX_ID_BYTES, place)?;
        let content = match fields.get_mut("output") {
            Some(output @ Value::Object(_)) => texts::take(output),
            _ => take_content(&mut fields, "output", place)?,
        };
        let more = More { tool_call_id: id.map(Into::into), ..More::default() };
        self.push(Draft::of(Role::Tool, content, more), source, fields, index)
    }

    fn call(
        &mut self,
        kind: &str,
        source: Value,
        mut fields: Map<String, Value>,
        index: usize,
        place: &Place<'_>,
    ) -> Result<()> {
        let output = self.output(index, |_| false);
        let part = |part: &str| format!("calls/{}/{part}", output.calls.len());
        let id = take_fit(&mut fields, "call_id", &part("id"), MAX_ID_BYTES, place)?;
        let name = take_fit(&mut fields, "name", &part("name"), MAX_NAME_BYTES, place)?;
        let input = ["arguments", "input", "action", "operation", "code"]
            .into_iter()
            .find(|name| fields.contains_key(*name));
        let arguments_json = take_arguments(&mut fields, input.unwrap_or_default(), output.calls.len());
        let name = name.unwrap_or_else(|| fit(kind.trim_end_matches("_call"), MAX_NAME_BYTES).into_owned());
        let id = id.unwrap_or_else(|| fit_id(&name).into_owned());
        output.calls.push(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments_json: arguments_json.into(),
        });
        output.add(source, fields);
        Ok(())
    }

    /// Returns the model's output so far; starts a new one if `ends` is true for the current one.
    fn output(&mut self, index: usize, ends: impl Fn(&Output) -> bool) -> &mut Output {
        if self.output.as_ref().is_some_and(|output| self.apart || ends(output)) {
            self.end_output();
        }
        self.output.get_or_insert_with(|| Output { index, ..Output::default() })
    }

    fn end_output(&mut self) {
        let Some(Output { index, calls, source, hollow, .. }) = self.output.take() else { return };
        let mut hollow = Value::Array(hollow);
        let content = texts::take(&mut hollow);
        let draft = Draft::of(Role::Assistant, content, More { tool_calls: calls, ..More::default() });
        self.keep(draft, Value::Array(source), hollow, index);
    }

    /// Adds an utterance of its own.
    fn push(&mut self, draft: Draft, source: Value, hollow: Map<String, Value>, index: usize) -> Result<()> {
        self.end_output();
        self.keep(draft, Value::Array(vec![source]), Value::Array(vec![hollow.into()]), index);
        Ok(())
    }

    fn keep(&mut self, mut draft: Draft, source: Value, hollow: Value, index: usize) {
        extras::keep_difference(&mut draft, FORMAT, &source, &hollow, canonical);
        self.said.push(Sourced { index, draft });
    }
}

impl Output {
    /// Whether the model has said or called something in it.
    fn is_said(&self) -> bool {
        self.says || !self.calls.is_empty()
    }

    fn add(&mut self, source: Value, hollow: Map<String, Value>) {
        self.source.push(source);
        self.hollow.push(hollow.into());
    }
}
