//! Writes utterances as messages.

use serde_json::{Map, Value, json};

use crate::{
    Losses, Repairs, Whole,
    anthropic::read::{AT, FORM, PROVIDER, STARTS, SYSTEM, remove_blank, side},
    extras::{MESSAGE, Parts},
    whole::Written,
};
use utterd_domain::{Role, context::wording::OPENING};

/// Writes the conversation: an array of messages, or an object with `messages` if it came as one or begins
/// with instructions, which go into `system`.
///
/// System utterances elsewhere become user messages.
pub fn export(whole: &Whole<'_>, repairs: Repairs, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let mut writer = Writer { all: repairs.all, ..Writer::default() };
    for Written { line, kept, values: mut blocks } in whole.written(&said, &PROVIDER, repairs, losses) {
        let parts = line.parts();
        if kept.is_none() {
            remove_blank(&mut blocks);
        }
        if blocks.is_empty() && (repairs.all || kept.is_none()) {
            continue;
        }
        let kept = kept.unwrap_or_default();
        let apart = !repairs.all && kept.get(MESSAGE).is_some();
        if kept.get(SYSTEM).is_some() || (parts.role == Role::System && writer.messages.is_empty() && !apart)
        {
            writer.instruct(&parts, &kept, blocks);
            continue;
        }
        if parts.role == Role::System && !apart {
            let reason = "an instruction inside the conversation becomes a user message";
            losses.add("role", reason, Some(whole.utterances[line.place].sequence));
        }
        writer.say(&parts, &kept, blocks);
    }
    if repairs.all && writer.settle() {
        losses.add("role", "the first message must be a user's: a placeholder was put first", None);
    }
    let mut written = PROVIDER.enclosed(writer.messages.into_iter().map(Message::value).collect(), &said);
    if let Some(system) = writer.system {
        if written.is_array() {
            written = json!({"system": null, "messages": written});
        }
        written["system"] = system.content();
    }
    written
}

/// Writes the message whose parts are `said`, each with its kept details. Instructions are a message with their own
/// role.
pub fn message(said: &[Parts<'_>]) -> Option<Value> {
    let mut writer = Writer::default();
    let kept = |parts: &Parts<'_>| parts.kept(PROVIDER.format);
    for parts in said {
        let kept = kept(parts);
        let blocks = PROVIDER.write(parts, kept.as_ref()).0;
        writer.say(parts, kept.as_ref().unwrap_or(&Value::Null), blocks);
    }
    let first = said.first()?;
    let in_blocks = kept(first).is_some_and(|kept| kept.get(SYSTEM).is_some_and(|form| form == "blocks"));
    let mut message = writer.messages.pop()?;
    message.text = message.text.filter(|_| !in_blocks);
    if first.role == Role::System && !message.fields.contains_key("role") {
        message.side = Role::System.as_str();
    }
    Some(message.value())
}

#[derive(Default)]
struct Writer {
    /// The instructions, which are a message without a role.
    system: Option<Message>,
    messages: Vec<Message>,
    /// Drops kept details that the API might not accept.
    all: bool,
}

/// A message being built.
#[derive(Default)]
struct Message {
    side: &'static str,
    /// Fields other than role and content; may override the role.
    fields: Map<String, Value>,
    blocks: Vec<Value>,
    /// Results that have a fixed place among the blocks.
    placed: Vec<(usize, Value)>,
    /// The content as text, while it is a single text.
    text: Option<String>,
}

impl Writer {
    fn instruct(&mut self, parts: &Parts<'_>, kept: &Value, blocks: Vec<Value>) {
        let is_text = self.system.is_none() && kept.get(SYSTEM).is_none_or(|form| form == "text");
        let system = self.system.get_or_insert_default();
        system.text = is_text.then(|| parts.content.to_owned());
        system.blocks.extend(blocks);
    }

    fn say(&mut self, parts: &Parts<'_>, kept: &Value, blocks: Vec<Value>) {
        let side = side(parts.role);
        let kept = |mark: &str| kept.get(mark).filter(|_| !self.all || mark == FORM);
        let starts = kept(STARTS).is_some() || self.messages.last().is_none_or(|last| last.side != side);
        if starts {
            let fields = kept(MESSAGE).and_then(Value::as_object).cloned().unwrap_or_default();
            let text = is_text(parts, kept(FORM), &blocks).then(|| parts.content.to_owned());
            self.messages.push(Message { side, fields, text, ..Message::default() });
        }
        let Some(message) = self.messages.last_mut() else { return };
        if !starts {
            message.text = None;
        }
        match kept(AT).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok()) {
            Some(at) => message.placed.extend(blocks.into_iter().map(|block| (at, block))),
            None => message.blocks.extend(blocks),
        }
    }

    /// Makes a user message the first one, and trims white space from the end of a final assistant message.
    /// Returns whether a message was inserted.
    fn settle(&mut self) -> bool {
        let opens = self.messages.first().is_some_and(|first| first.side == "assistant");
        if opens {
            let text = Some(OPENING.to_owned());
            self.messages.insert(0, Message { side: "user", text, ..Message::default() });
        }
        if let Some(last) = self.messages.last_mut().filter(|last| last.side == "assistant") {
            last.trim_end();
        }
        opens
    }
}

impl Message {
    fn trim_end(&mut self) {
        let block = self.blocks.last_mut().and_then(|block| block.get_mut("text"));
        if let Some(Value::String(text)) = block {
            text.truncate(text.trim_end().len());
        }
        if let Some(text) = &mut self.text {
            text.truncate(text.trim_end().len());
        }
    }

    fn content(mut self) -> Value {
        for (at, block) in self.placed {
            self.blocks.insert(at.min(self.blocks.len()), block);
        }
        self.text.map_or(Value::Array(self.blocks), Value::String)
    }

    fn value(mut self) -> Value {
        let fields = std::mem::take(&mut self.fields);
        let mut message = Map::from_iter([("role".into(), self.side.into())]);
        message.insert("content".into(), self.content());
        message.extend(fields);
        Value::Object(message)
    }
}

/// Whether a message that consists only of `parts` has text as its content.
fn is_text(parts: &Parts<'_>, form: Option<&Value>, blocks: &[Value]) -> bool {
    let asks = parts.role != Role::Assistant && parts.role != Role::Tool;
    let usual = asks && blocks.iter().all(|block| block["type"] == "text");
    form.map_or(usual, |form| form == "text") && parts.calls().is_empty()
}
