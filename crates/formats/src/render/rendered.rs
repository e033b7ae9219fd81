//! A rendered context, and how its JSON is written.

use serde::Serialize;

use utterd_domain::context::{Context, Message};

/// A rendered context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// A JSON array of messages; empty for [`Format::Text`](utterd_domain::context::Format::Text).
    pub messages_json: String,
    /// For Anthropic, the request's `system`: a JSON array of text blocks. Empty if there is none.
    pub system_json: String,
    /// The text of [`Format::Text`](utterd_domain::context::Format::Text).
    pub text: String,
    /// The token count: the context's, or for [`Format::Text`](utterd_domain::context::Format::Text) that of
    /// the text.
    pub tokens: u32,
    /// How many of the messages will begin the next context too: see [`Context::stable`].
    pub stable_messages: usize,
    /// For each message of the context, its index in the JSON array; `None` if it is elsewhere.
    pub places: Vec<Option<usize>>,
}

/// Approximate bytes of JSON around a message.
const MESSAGE_BYTES: usize = 96;

/// The approximate size of `context` as JSON, in bytes.
pub(super) fn size(context: &Context) -> usize {
    let bytes = |message: &Message| {
        let calls = message.tool_calls().iter().map(|call| call.arguments_json.len() + MESSAGE_BYTES);
        message.content_parts().unwrap_or_default().len()
            + message.text().len() * 9 / 8
            + MESSAGE_BYTES
            + calls.sum::<usize>() * 9 / 8
    };
    context.messages.iter().map(bytes).sum()
}

/// Writes JSON that cannot fail: text, numbers and lists of them.
pub(super) fn json(value: &impl Serialize, size: usize) -> String {
    let mut bytes = Vec::with_capacity(size);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
