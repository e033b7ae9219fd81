//! What goes to Anthropic's API of blocks that came in its format.

use serde_json::Value;

use crate::{
    Format,
    anthropic::{MESSAGE, canonical},
    extras::Parts,
    fields::is_text,
    refused::{FRAMEWORKS, LeftOut, strip},
    texts,
};
use utterd_domain::Role;

/// The fields of a message that tell about an answer, and are no part of it. Requests have no others than the role and
/// the content.
const ABOUT: &str =
    "container context_management id model role stop_details stop_reason stop_sequence type usage";

/// Whether the API refuses a field of a block of this type.
fn refuses(kind: &str, field: &str, value: &Value) -> bool {
    match (kind, field) {
        // what is the case without it
        ("tool_use", "caller") => value["type"] == "direct",
        // a request may have only a few, which its maker sets
        (_, "cache_control") => true,
        _ => false,
    }
}

/// The name of a block that the API refuses; empty for a blank text.
fn refused(block: &Value) -> Option<&'static str> {
    match block["type"].as_str()? {
        "text" if block["text"].as_str().is_some_and(|text| text.trim().is_empty()) => Some(""),
        "thinking" if !is_text(&block["signature"]) => Some("thinking without a signature"),
        "redacted_thinking" if !is_text(&block["data"]) => Some("redacted_thinking without data"),
        _ => None,
    }
}

/// The blocks of `parts` as they came (`rendered`), without what the API refuses. Empty if nothing is said or called.
pub fn sent(parts: &Parts<'_>, rendered: Vec<Value>, left_out: &mut LeftOut) -> Vec<Value> {
    let plain = match parts.plain(canonical(parts)) {
        Value::Array(blocks) => blocks,
        _ => Vec::new(),
    };
    let exchange = |block: &&Value| block["type"] == "tool_use" || block["type"] == "tool_result";
    // it can be verbatim, from before an edit
    let same = rendered.iter().filter(exchange).map(core).eq(plain.iter().filter(exchange).map(core));
    let mut blocks = if same { rendered } else { plain };
    blocks.iter_mut().for_each(|block| strip(block, "", refuses, left_out));
    retain(&mut blocks, left_out);
    if parts.role == Role::System {
        // instructions are texts
        let other = blocks.extract_if(.., |block| block["type"] != "text");
        left_out.extend(other.map(|block| texts::kind(&block).to_owned()));
    }
    if blocks.iter().all(|block| texts::is_thought(texts::kind(block))) {
        // a message of nothing but thoughts is refused
        left_out.extend(blocks.drain(..).map(|block| texts::kind(&block).to_owned()));
    }
    blocks
}

/// Removes the blocks that the API refuses, also from results.
fn retain(blocks: &mut Vec<Value>, left_out: &mut LeftOut) {
    blocks.retain(|block| {
        let refused = refused(block);
        left_out.extend(refused.filter(|name| !name.is_empty()).map(str::to_owned));
        refused.is_none()
    });
    for block in blocks.iter_mut().filter(|block| block["type"] == "tool_result") {
        if let Some(Value::Array(content)) = block.get_mut("content") {
            retain(content, left_out);
        }
    }
}

/// The fields that must match what the conversation holds.
fn core(block: &Value) -> [&Value; 5] {
    ["type", "id", "name", "input", "tool_use_id"].map(|field| &block[field])
}

/// Removes texts that hold only white space.
pub(super) fn remove_blank(blocks: &mut Vec<Value>) {
    blocks.retain(|block| refused(block) != Some(""));
}

/// The fields of the message of `parts` that a request has no place for.
pub fn left_of_message(parts: &Parts<'_>) -> Vec<String> {
    let kept = parts.kept(Format::Anthropic).unwrap_or_default();
    let fields = kept[MESSAGE].as_object().into_iter().flatten();
    let silent = |name: &str| texts::listed(ABOUT, name) || texts::listed(FRAMEWORKS, name);
    fields.filter(|(name, _)| !silent(name)).map(|(name, _)| name.clone()).collect()
}

/// Whether these blocks say `said`.
pub fn says(blocks: &Value, said: &str) -> bool {
    match blocks.as_array().map(Vec::as_slice) {
        // a result is one block with content of its own
        Some([block]) if block["type"] == "tool_result" => texts::says(&[&block["content"]], said),
        _ => texts::says(&[blocks], said),
    }
}
