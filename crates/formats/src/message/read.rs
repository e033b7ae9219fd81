//! Reads messages.

use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Format, Sourced, UnknownRoles, document,
    extras::{self, Parts},
    message::{raw, write},
    openai_responses,
    place::{Notes, Place},
    providers,
    raw_object::raw_object,
    repair, replace_surrogates,
};
use utterd_domain::{Refusal, Result, Role, quoted};

/// Messages that were read.
#[derive(Debug)]
pub struct Incoming {
    /// The format of all messages.
    pub format: Format,
    /// A draft for each message, or several, of which all but the first are marked as continuing it.
    pub drafts: Vec<Sourced>,
}

/// The field that errors name.
const FIELD: &str = "messages_json";

/// Reads messages: a JSON array, a single message, or an object with `messages` and Anthropic's `system`, the
/// form in which contexts are built. Without a format, it is detected.
///
/// Refuses anything that is not JSON, other fields next to `messages`, and what the format does not accept,
/// with its place.
pub fn read(json: &str, format: Option<Format>, unknown_roles: UnknownRoles) -> Result<Incoming> {
    let (messages, system, list) = content(json)?;
    let values: Vec<Value> = messages.iter().map(|message| value(message.get())).collect::<Result<_, _>>()?;
    let format = match format {
        Some(format) => format,
        None if system.is_some() => Format::Anthropic,
        None => document::detect(&values)
            .ok_or_else(|| Refusal::invalid(FIELD, "is in no recognizable format: name the format"))?,
    };
    let root = Place::root(list);
    let mut notes = Notes { unknown_roles, ..Notes::default() };
    let said = match format {
        Format::OpenAiResponses => openai_responses::items_of(values, true, &root, &mut notes)?,
        format if format.has_messages() => {
            repair::conversation(providers::of(format), values.into(), &root, &mut notes)?.said
        }
        _ => return Err(no_messages(format)),
    };
    let mut drafts = instructions(system.map(RawValue::get), format)?;
    let before = drafts.len();
    drafts.extend(said.into_iter().map(|sourced| Sourced { index: sourced.index + before, ..sourced }));
    let texts: Vec<&str> = messages.iter().map(|message| message.get()).collect();
    keep(&mut drafts[before..], &texts, before, format);
    Ok(Incoming { format, drafts })
}

/// The messages of a request, its `system`, and the name of the list in errors.
type Content<'j> = (Vec<&'j RawValue>, Option<&'j RawValue>, &'static str);

fn content(json: &str) -> Result<Content<'_>> {
    let refused = |error: serde_json::Error| Refusal::invalid(FIELD, format!("is not JSON: {error}"));
    let json = json.trim_start_matches('\u{feff}');
    if json.trim_start().starts_with('[') {
        let messages = serde_json::from_str(json).map_err(refused)?;
        return Ok((messages, None, FIELD));
    }
    let alone: &RawValue = serde_json::from_str(json).map_err(refused)?;
    let accepted = || {
        let text = "is not a JSON array of messages, one message, or an object with messages and system";
        Refusal::invalid(FIELD, text)
    };
    let fields = raw_object(alone.get()).ok_or_else(accepted)?;
    let Some(list) = fields.get("messages") else {
        return Ok((vec![alone], None, FIELD));
    };
    if let Some((other, _)) = fields.iter().find(|(name, _)| !matches!(&***name, "messages" | "system")) {
        let text = format!("has the field {}; accepted next to messages is system", quoted(other));
        return Err(Refusal::invalid(FIELD, text));
    }
    let messages = serde_json::from_str(list.get()).map_err(|_| accepted())?;
    let system = fields.get("system").copied().filter(|system| system.get() != "null");
    Ok((messages, system, "messages_json.messages"))
}

fn value(json: &str) -> Result<Value> {
    serde_json::from_str(&replace_surrogates(json))
        .map_err(|error| Refusal::invalid(FIELD, format!("is not JSON: {error}")))
}

/// Reads a request's `system` as a message of its own.
fn instructions(system: Option<&str>, format: Format) -> Result<Vec<Sourced>> {
    let Some(system) = system else { return Ok(Vec::new()) };
    if format != Format::Anthropic {
        return Err(Refusal::invalid(
            "messages_json.system",
            "is accepted only with the format ANTHROPIC_MESSAGES (3)",
        ));
    }
    let request = json!({"system": value(system)?, "messages": []});
    let mut notes = Notes::default();
    Ok(repair::conversation(providers::of(format), request, &Place::root(FIELD), &mut notes)?.said)
}

fn no_messages(format: Format) -> Refusal {
    let text = format!(
        "is {}; accepted: OPENAI_CHAT (1), OPENAI_RESPONSES (2) and ANTHROPIC_MESSAGES (3)",
        format.name()
    );
    Refusal::invalid("format", text)
}

/// Keeps with each draft its own share of the message's bytes, and marks the drafts that continue the
/// previous one.
fn keep(drafts: &mut [Sourced], texts: &[&str], before: usize, format: Format) {
    for said in drafts.chunk_by_mut(|one, next| one.index == next.index) {
        let Some(text) = said.first().and_then(|first| texts.get(first.index - before)) else { continue };
        for sourced in said.iter_mut().skip(1) {
            sourced.draft.more.get_or_insert_default().continues = true;
        }
        let parts: Vec<_> = said.iter().map(|sourced| Parts::from(&sourced.draft)).collect();
        if write::canonical(&parts, format) == [*text] {
            // without a mark, a message is taken for a chat message, and one that says nothing is refused
            if format != Format::OpenAiChat || said[0].draft.is_empty() {
                extras::keep(&mut said[0].draft, format, Map::new());
            }
            continue;
        }
        for (place, pieces) in owned(text, said).into_iter().enumerate() {
            raw::keep(&mut said[place].draft, format, &pieces);
        }
    }
}

/// The pieces of a message's text, by draft. If a message became several drafts, each result belongs to its
/// own draft, every other block to the draft that is not a result (or to the first), and the text around the
/// blocks to the first.
fn owned<'m>(text: &'m str, said: &[Sourced]) -> Vec<Vec<raw::Piece<'m>>> {
    let mut owned = vec![Vec::new(); said.len()];
    let blocks = if said.len() > 1 { blocks(text).unwrap_or_default() } else { Vec::new() };
    let rest = said.iter().position(|sourced| sourced.draft.role != Role::Tool).unwrap_or(0);
    let (mut from, mut number, mut results) = (0, 0, 0..said.len());
    let mut give = |owner: usize, piece: &'m str| {
        owned[owner].push((number, piece));
        number += 1;
    };
    for (start, end) in blocks {
        let owner = if is_result(&text[start..end]) { results.next().unwrap_or(0) } else { rest };
        give(0, &text[from..start]);
        give(owner, &text[start..end]);
        from = end;
    }
    give(0, &text[from..]);
    owned
}

fn is_result(block: &str) -> bool {
    value(block).is_ok_and(|block| block["type"] == "tool_result")
}

/// The ranges of the content blocks within a message's text.
fn blocks(text: &str) -> Option<Vec<(usize, usize)>> {
    let content = *raw_object(text)?.get("content")?;
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let place = |block: &&RawValue| {
        let start = (block.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let end = start + block.get().len();
        (text.get(start..end)? == block.get()).then_some((start, end))
    };
    blocks.iter().map(place).collect()
}
