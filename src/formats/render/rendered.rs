//! A context, written, and the JSON that it is written in.

use serde::Serialize;

use crate::domain::context::{Context, Message};

/// A context, written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// A JSON array of messages; empty for [`Format::Text`](crate::domain::context::Format::Text).
    pub messages_json: String,
    /// For Anthropic the request's `system`, a JSON array of text blocks; empty when there is none.
    pub system_json: String,
    /// The text of [`Format::Text`](crate::domain::context::Format::Text).
    pub text: String,
    /// Its tokens: the context's, or for [`Format::Text`](crate::domain::context::Format::Text) those of the text.
    pub tokens: u32,
    /// So many of the messages will begin the next context too: see [`Context::stable`].
    pub stable_messages: usize,
    /// For each message of the context, in which of the JSON it stands; `None` where it stands elsewhere.
    pub places: Vec<Option<usize>>,
}

/// Bytes of JSON around a message, about.
const MESSAGE_BYTES: usize = 96;

/// About how many bytes `context` takes as JSON.
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

/// JSON of what cannot fail to be written: text, numbers and lists of them.
pub(super) fn json(value: &impl Serialize, size: usize) -> String {
    let mut bytes = Vec::with_capacity(size);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
