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
    let mut items = match (rendered.is_empty(), parts.plain(canonical(parts))) {
        (true, Value::Array(items)) => items,
        _ => rendered,
    };
    items.iter_mut().for_each(|item| strip(item, "", refuses, left_out));
    items.retain(|item| item["content"] != "");
    items
}
