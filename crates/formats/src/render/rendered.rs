//! A rendered context.

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
    /// How many of the messages will begin the next context too: see
    /// [`Context::stable`](utterd_domain::context::Context::stable).
    pub stable_messages: usize,
    /// How many call ids were replaced, because the provider refuses them or they occur twice.
    pub renamed: usize,
    /// For each message of the context, its index in the JSON array; `None` if it is elsewhere.
    pub places: Vec<Option<usize>>,
}
