//! What Anthropic's API accepts as content.

use serde_json::Value;

use crate::{
    anthropic::canonical,
    extras::Parts,
    fields::{has_only, is_text},
};
use utterd_domain::Role;

/// Returns `parts` as the blocks that they came in (`rendered`) if the API accepts all of these, otherwise in
/// the canonical form. Blank texts are always left out. Empty if nothing is said or called.
pub(super) fn accepted(parts: &Parts<'_>, rendered: &[Value]) -> Vec<Value> {
    let plain = match parts.plain(canonical(parts)) {
        Value::Array(blocks) => blocks,
        _ => Vec::new(),
    };
    let mut blocks = rendered.to_vec();
    remove_blank(&mut blocks);
    let exchange = |block: &&Value| is_exchange(block);
    let same = blocks.iter().filter(exchange).map(core).eq(plain.iter().filter(exchange).map(core));
    match same && !blocks.is_empty() && blocks.iter().all(|block| knows(block, parts.role)) {
        true => blocks,
        false => {
            let mut blocks = plain;
            remove_blank(&mut blocks);
            blocks
        }
    }
}

/// Removes texts that hold only white space.
pub(super) fn remove_blank(blocks: &mut Vec<Value>) {
    let is_blank = |text: &Value| text.as_str().is_some_and(|text| text.trim().is_empty());
    blocks.retain(|block| block["type"] != "text" || !is_blank(&block["text"]));
}

fn is_exchange(block: &Value) -> bool {
    block["type"] == "tool_use" || block["type"] == "tool_result"
}

/// The fields that must match what the conversation holds.
fn core(block: &Value) -> [&Value; 5] {
    ["type", "id", "name", "input", "tool_use_id"].map(|field| &block[field])
}

/// Whether the API accepts this block from `role`.
fn knows(block: &Value, role: Role) -> bool {
    let only = |known: &[&str]| {
        has_only(block, &[&["type", "cache_control"], known].concat()) && is_mark(block.get("cache_control"))
    };
    match (block["type"].as_str().unwrap_or_default(), role) {
        ("text", _) => only(&["text"]) && is_text(&block["text"]),
        ("tool_use", Role::Assistant) => only(&["id", "name", "input"]),
        ("tool_result", Role::Tool) => {
            let flag = block.get("is_error").is_none_or(Value::is_boolean);
            only(&["tool_use_id", "content", "is_error"]) && flag && is_result(block.get("content"))
        }
        ("image" | "document", Role::User) => {
            only(&["source", "title", "context"]) && is_source(&block["source"])
        }
        ("thinking", Role::Assistant) => {
            has_only(block, &["type", "thinking", "signature"])
                && is_text(&block["thinking"])
                && is_text(&block["signature"])
        }
        ("redacted_thinking", Role::Assistant) => {
            has_only(block, &["type", "data"]) && is_text(&block["data"])
        }
        _ => false,
    }
}

fn is_mark(mark: Option<&Value>) -> bool {
    mark.is_none_or(|mark| mark["type"] == "ephemeral" && has_only(mark, &["type", "ttl"]))
}

fn is_result(content: Option<&Value>) -> bool {
    match content {
        None | Some(Value::String(_)) => true,
        Some(Value::Array(blocks)) => blocks.iter().all(|block| match block["type"].as_str() {
            Some("text") => {
                block["text"].as_str().is_some_and(|text| !text.trim().is_empty()) && knows(block, Role::User)
            }
            _ => block["type"] == "image" && knows(block, Role::User),
        }),
        _ => false,
    }
}

fn is_source(source: &Value) -> bool {
    match source["type"].as_str() {
        Some("base64") => is_text(&source["media_type"]) && is_text(&source["data"]),
        Some("url") => is_text(&source["url"]),
        Some("file") => is_text(&source["file_id"]),
        _ => false,
    }
}
