//! What goes to OpenAI's Responses API of items that came in its format.

use serde_json::Value;

use crate::{
    extras::Parts,
    openai_responses::canonical,
    refused::{LeftOut, strip},
};

/// Whether the API refuses a field of an item or a part of this type.
fn refuses(kind: &str, field: &str, _: &Value) -> bool {
    // what OpenAI's packages add to an answer that they parse
    matches!((kind, field), ("output_text", "parsed") | ("function_call", "parsed_arguments"))
}

/// The items of `parts` as they came (`rendered`), without what the API refuses. Empty if nothing is said or called.
pub fn sent(parts: &Parts<'_>, rendered: Vec<Value>, left_out: &mut LeftOut) -> Vec<Value> {
    let plain = match parts.plain(canonical(parts)) {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let mut items = if rendered.is_empty() { plain.clone() } else { rendered };
    // ids and names that were repaired
    let repaired = plain.iter().filter(|item| is_exchange(item));
    for (item, repaired) in items.iter_mut().filter(|item| is_exchange(item)).zip(repaired) {
        let fields = ["call_id", "name", "arguments"].into_iter();
        for (field, value) in fields.filter_map(|field| Some((field, repaired.get(field)?))) {
            item[field] = value.clone();
        }
    }
    items.iter_mut().for_each(|item| strip(item, "", refuses, left_out));
    items.retain(|item| item["content"] != "");
    items
}

/// Whether an item is a call of a function, or its result.
fn is_exchange(item: &Value) -> bool {
    item["type"] == "function_call" || item["type"] == "function_call_output"
}
