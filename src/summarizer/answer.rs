//! A model's answer.

/// A model's answer.
pub(super) struct Answer {
    /// Its text, unchanged.
    pub text: String,
    /// The model that the server names.
    pub model: Option<String>,
}
