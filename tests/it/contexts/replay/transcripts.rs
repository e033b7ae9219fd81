//! The transcripts of `UTTERD_DATA`.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;
use utterd::domain::{Draft, More, Role, ToolCall};

/// One conversation.
pub struct Transcript {
    /// The file's name, without its extension.
    pub file: String,
    /// What was said, in order.
    pub drafts: Vec<Draft>,
}

/// Every transcript below `UTTERD_DATA` (default `../shared/data`); none if it is absent.
pub fn all() -> Vec<Transcript> {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let folder = PathBuf::from(folder).join("transcripts");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no transcripts in {}", folder.display());
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    paths.sort();
    paths.iter().flat_map(|path| of_file(path)).collect()
}

/// The first of each file, cut to this many messages.
pub fn sample(of_each: usize, messages: usize) -> Vec<Transcript> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut transcripts = all();
    transcripts.retain(|transcript| {
        let seen = seen.entry(transcript.file.clone()).or_default();
        *seen += 1;
        *seen <= of_each
    });
    transcripts.iter_mut().for_each(|transcript| transcript.drafts.truncate(messages));
    transcripts
}

/// The transcripts in a file.
pub fn of_file(path: &std::path::Path) -> Vec<Transcript> {
    let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a readable file");
    let transcript = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let messages = line["messages"].as_array().expect("messages");
        Transcript { file: file.clone(), drafts: messages.iter().map(draft).collect() }
    };
    text.lines().map(transcript).collect()
}

fn draft(message: &Value) -> Draft {
    let text = |value: &Value| value.as_str().map(Box::from);
    let call = |call: &Value| ToolCall {
        id: text(&call["id"]).expect("an id"),
        name: text(&call["function"]["name"]).expect("a name"),
        arguments_json: text(&call["function"]["arguments"]).unwrap_or_default(),
    };
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    let more = More {
        name: text(&message["name"]),
        tool_calls: calls.iter().map(call).collect(),
        tool_call_id: text(&message["tool_call_id"]),
        ..More::default()
    };
    // What a program added to the conversation is on the user's side.
    let role = message["role"].as_str().and_then(Role::named).unwrap_or(Role::User);
    Draft::of(role, text(&message["content"]).unwrap_or_default(), more)
}
