//! What a model answered.

/// What a model answered.
pub(super) struct Answer {
    /// Its text, as it came.
    pub text: String,
    /// The model that the server names.
    pub model: Option<String>,
}
