//! Real texts: the project's documentation and sources.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::dice::Dice;

/// The longest text, in bytes, as a power of two.
const MOST_DOUBLINGS: u64 = 16;

/// The texts of all files.
pub struct Texts(Vec<String>);

impl Texts {
    pub fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = vec![root.join("README.md")];
        ["docs", "crates", "proto"].iter().for_each(|folder| add(&root.join(folder), &mut paths));
        paths.sort();
        let texts: Vec<String> = paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        assert!(texts.len() > 100, "the project's texts are there");
        Self(texts)
    }

    /// A piece of at most `most` bytes, from anywhere; as often of 1 to 2 bytes as of 2 to 4 and so on.
    pub fn piece(&self, dice: &mut Dice, most: usize) -> String {
        let doublings = MOST_DOUBLINGS.min(most.max(1).ilog2().into());
        let least = 1 << dice.below(doublings + 1);
        let length = (least + dice.below(least)).min(most as u64).min(60_000) as usize;
        let mut piece = String::with_capacity(length);
        while piece.len() < length {
            let text = &self.0[dice.below(self.0.len() as u64) as usize];
            let start = text.ceil_char_boundary(dice.below(text.len() as u64) as usize);
            let end = text.floor_char_boundary((start + length - piece.len()).min(text.len()));
            match start < end {
                true => piece.push_str(&text[start..end]),
                false => piece.push('.'),
            }
        }
        piece
    }

    /// Messages in OpenAI's format, with tool calls and most of their results.
    pub fn chat(&self, dice: &mut Dice) -> String {
        let mut messages: Vec<Value> = Vec::new();
        for _ in 0..dice.below(12) {
            match dice.below(20) {
                0 => messages.push(json!({"role": "system", "content": self.piece(dice, 500)})),
                1..8 => messages.push(json!({"role": "user", "content": self.piece(dice, 4_000)})),
                8..14 => messages.push(json!({"role": "assistant", "content": self.piece(dice, 4_000)})),
                _ => self.add_exchange(dice, &mut messages),
            }
        }
        Value::Array(messages).to_string()
    }

    fn add_exchange(&self, dice: &mut Dice, messages: &mut Vec<Value>) {
        let calls: Vec<Value> = (0..=dice.below(3)).map(|_| self.tool_call(dice)).collect();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
        for call in &calls {
            let content = self.piece(dice, 6_000);
            if dice.percent(90) {
                messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": content}));
            }
        }
    }

    fn tool_call(&self, dice: &mut Dice) -> Value {
        let name = ["search", "read_file", "bash", "book_flight"][dice.below(4) as usize];
        let arguments = json!({"q": self.piece(dice, 300)}).to_string();
        // some providers' ids are long
        let id = format!("call_{:0width$}", dice.below(1_000_000), width = 1 + dice.below(60) as usize);
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }
}

/// Adds the text files below a folder.
fn add(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md" | "rs" | "proto" | "txt" | "js" | "json") => paths.push(path),
            None if path.is_dir() => add(&path, paths),
            _ => {}
        }
    }
}
