//! Recounts the tokens of messages from the outgoing JSON, by the documented rules.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::said::counter;

/// The smallest unit at which a provider can cut a prefix: a message, or a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes.
    pub bytes: String,
    /// Its tokens.
    pub tokens: u32,
}

/// Pieces, in order.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// What goes out.
    pub pieces: Vec<Piece>,
    /// Tokens that the JSON leaves open: calls behind a text can be a separate utterance, and so can text
    /// that looks like the mark before a user's or the system's words.
    pub unsure: u32,
}

impl Counted {
    /// The tokens of all pieces.
    pub fn tokens(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }
}

/// OpenAI's messages: 4 for each, its content, its name and 1; for each call 3, the name of the function and
/// the arguments.
pub fn openai(messages_json: &str) -> Counted {
    let messages: Vec<&RawValue> = serde_json::from_str(messages_json).expect("an array");
    let pieces = messages.into_iter().map(|message| {
        let value: Value = serde_json::from_str(message.get()).expect("a message");
        let text = |value: &Value| value.as_str().map_or(0, |text| counter().count(text));
        let calls = value["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        let called = calls
            .iter()
            .map(|call| 3 + text(&call["function"]["name"]) + text(&call["function"]["arguments"]));
        let name = value["name"].as_str().map_or(0, |name| 1 + counter().count(name));
        Piece {
            tokens: 4 + text(&value["content"]) + name + called.sum::<u32>(),
            bytes: message.get().to_owned(),
        }
    });
    Counted { pieces: pieces.collect(), unsure: 0 }
}

#[derive(Deserialize)]
struct Message<'a> {
    role: &'a str,
    #[serde(borrow)]
    content: &'a RawValue,
}

/// Anthropic's messages: 4 and the text for each block of text or result; for each call 3, the name and the
/// input as written; and 4 for the calls of one utterance without a text.
pub fn anthropic(system_json: &str, messages_json: &str) -> Counted {
    let mut counted = Counted::default();
    if !system_json.is_empty() {
        blocks("system", system_json, &mut counted);
    }
    let messages: Vec<Message<'_>> = serde_json::from_str(messages_json).expect("an array");
    for message in messages {
        blocks(message.role, message.content.get(), &mut counted);
    }
    counted
}

#[derive(Deserialize)]
struct Block<'a> {
    r#type: &'a str,
    #[serde(default)]
    text: Value,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    name: Value,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

fn blocks(role: &str, json: &str, counted: &mut Counted) {
    let blocks: Vec<&RawValue> = serde_json::from_str(json).expect("blocks");
    let mut before = String::new();
    for raw in blocks {
        let block: Block<'_> = serde_json::from_str(raw.get()).expect("a block");
        let text = |value: &Value| value.as_str().map_or(0, |text| counter().count(text));
        let tokens = match block.r#type {
            "tool_use" => {
                let lone = before.is_empty();
                counted.unsure += if before == "text" { 4 } else { 0 };
                let input = block.input.map_or(0, |input| counter().count(input.get()));
                3 + text(&block.name) + input + if lone { 4 } else { 0 }
            }
            "tool_result" => 4 + text(&block.content),
            _ if is_mark(block.text.as_str().unwrap_or_default()) => {
                counted.unsure += 4;
                text(&block.text)
            }
            _ => 4 + text(&block.text),
        };
        before = block.r#type.to_owned();
        counted.pieces.push(Piece { bytes: format!("{role} {}", raw.get()), tokens });
    }
}

/// A named user's words are preceded by the name and a colon, the system's by this.
fn is_mark(text: &str) -> bool {
    text.ends_with(':') || text == "[system message]"
}
