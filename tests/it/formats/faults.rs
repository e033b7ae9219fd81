//! What a provider would refuse, by its published rules.

use std::collections::HashSet;

use serde_json::Value;
use utterd::formats::Format;

/// What a provider would refuse among a conversation's calls and results.
pub fn faults(value: &Value, format: Format) -> Vec<String> {
    let list = ["messages", "input"].into_iter().find_map(|list| value.get(list)).unwrap_or(value);
    let messages = list.as_array().expect("a list");
    match format {
        Format::Anthropic => anthropic_faults(messages),
        Format::OpenAiResponses => responses_faults(messages),
        _ => chat_faults(messages),
    }
}

/// The calls of a message are answered, each once, by the messages directly after it.
fn chat_faults(messages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<&Value> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            match open.iter().position(|id| **id == message["tool_call_id"]) {
                Some(place) => drop(open.remove(place)),
                None => faults.push(format!("{index}: an orphan")),
            }
            continue;
        }
        if !open.is_empty() {
            faults.push(format!("{index}: {open:?} are not answered"));
        }
        open = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]).collect();
        let ids: HashSet<String> = open.iter().map(ToString::to_string).collect();
        if ids.len() < open.len() || open.iter().any(|id| id.as_str().is_none_or(|id| id.len() > 40)) {
            faults.push(format!("{index}: ids {open:?}"));
        }
    }
    if !open.is_empty() {
        faults.push(format!("at the end: {open:?} are not answered"));
    }
    faults
}

fn responses_faults(items: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut open, mut all) = (HashSet::new(), HashSet::new());
    for (index, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call")
                if id.is_empty() || id.len() > 64 || !all.insert(id) || !open.insert(id) =>
            {
                faults.push(format!("{index}: the id {id:?}"));
            }
            Some("function_call_output") if !open.remove(id) => faults.push(format!("{index}: an orphan")),
            _ => {}
        }
    }
    faults.extend((!open.is_empty()).then(|| format!("{open:?} are not answered")));
    faults
}

/// The sides alternate, every call is answered in the next message, ids are unique and match the pattern,
/// nothing is empty.
fn anthropic_faults(messages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut open, mut all): (HashSet<&str>, HashSet<&str>) = (HashSet::new(), HashSet::new());
    for (index, message) in messages.iter().enumerate() {
        let mut fault = |what: String| faults.push(format!("{index}: {what}"));
        if index > 0 && messages[index - 1]["role"] == message["role"] {
            fault("the side has not changed".into());
        }
        let blocks = message["content"].as_array();
        if message["content"] == "" || blocks.is_some_and(Vec::is_empty) {
            fault("it is empty".into());
        }
        let mut texts = false;
        for block in blocks.into_iter().flatten() {
            let id = |name: &str| block[name].as_str().unwrap_or_default();
            match block["type"].as_str() {
                Some("tool_result") if texts || !open.remove(id("tool_use_id")) => fault("an orphan".into()),
                Some("tool_use") if !block["input"].is_object() => fault("the input is no object".into()),
                Some("text") if id("text").is_empty() => fault("an empty text".into()),
                Some("text") => texts = true,
                _ => {}
            }
        }
        if !open.is_empty() {
            fault(format!("{open:?} are not answered"));
        }
        let calls = blocks.into_iter().flatten().filter(|block| block["type"] == "tool_use");
        open = calls.map(|call| call["id"].as_str().unwrap_or_default()).collect();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        for id in &open {
            if id.is_empty() || id.len() > 64 || !id.chars().all(plain) || !all.insert(id) {
                fault(format!("the id {id:?}"));
            }
        }
    }
    faults.extend((!open.is_empty()).then(|| format!("{open:?} are not answered")));
    faults
}
