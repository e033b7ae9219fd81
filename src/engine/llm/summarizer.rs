//! What the engine asks of a model.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    domain::{Utterance, extractive::Kind},
    store::BoxFuture,
};

/// Makes summaries with a model.
pub trait LlmSummarizer: Send + Sync + 'static {
    /// The model that is asked when a conversation names none.
    fn model(&self) -> &str;

    /// The models that a conversation may name as its own; by default only [`Self::model`].
    fn models(&self) -> Vec<&str> {
        vec![self.model()]
    }

    /// Asks for a summary, once.
    ///
    /// - Answers within the configured timeout; a future that is dropped ends the request.
    /// - Never repeats a request that failed: the caller decides whether and when.
    /// - What the model reads is made of `material` alone. Utterances that are not live, and
    ///   instructions, are left out; long ones are cut to their head and tail. How many utterances
    ///   there are is for the caller to bound.
    /// - A summary is trimmed and not empty. The model counts its tokens its own way: whoever has a
    ///   limit counts them.
    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<Told, LlmError>>;
}

/// What a model is to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// A summary that the conversation can go on from.
    #[default]
    Summary,
    /// A title and a closing summary of all of it, as [`told`](crate::domain::closing::told()) reads them.
    Closing,
}

/// What a summary is made of.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// What is asked for.
    pub task: Task,
    /// The conversation's own model.
    pub model: Option<Arc<str>>,
    /// The summary of what was said before; context, not to be told again.
    pub before: String,
    /// What an earlier summary tells of what is to be summarised, where the utterances themselves are
    /// not stored any more or were summarised before.
    pub told: String,
    /// What the summary must not lose: calls that changed something, identifiers.
    pub facts: Vec<String>,
    /// What is to be summarised, in order.
    pub said: Vec<Arc<Utterance>>,
    /// What the summary pays special attention to.
    pub focus: Vec<String>,
    /// The kind of talk, where one shows: it says what else to pay attention to.
    pub kind: Option<Kind>,
    /// Tokens that the summary may have.
    pub max_tokens: u32,
}

/// A model's summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The summary; not empty.
    pub text: String,
    /// The model that made it, as its server names it.
    pub model: String,
}

/// Why there is no summary. Its text may hold words of the model's server, and they what it was asked; what it
/// shows when it is debugged is for logs, and does not.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// Nobody answered, or not now: the same request may succeed later.
    #[error("the model is not available: {message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// The server asks to be left alone for so long.
        retry_after: Option<Duration>,
    },
    /// The server does not accept the request: a wrong key, an unknown model. The same request will
    /// not succeed.
    #[error("the request to the model is refused: {0}")]
    Refused(String),
    /// It answered, and the answer is no summary: empty, cut off at the token limit, too long,
    /// garbled.
    #[error("the model's answer cannot be used: {0}")]
    Unusable(String),
}

impl fmt::Debug for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { message, .. } => write!(f, "Unavailable({})", own_words(message)),
            Self::Refused(message) => write!(f, "Refused({})", own_words(message)),
            Self::Unusable(_) => f.write_str("Unusable"),
        }
    }
}

/// Of a message that begins with an HTTP status, the status: a server's words stand behind it.
fn own_words(message: &str) -> &str {
    match message.split_once(": ") {
        Some((status, _)) if status.starts_with(|first: char| first.is_ascii_digit()) => status,
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_models_server_are_not_debugged() {
        let shown = |message: &str| format!("{:?}", LlmError::Refused(message.into()));
        assert_eq!(shown("401 Unauthorized: no such key: planted"), "Refused(401 Unauthorized)");
        assert_eq!(
            shown("error sending request: connection refused"),
            "Refused(error sending request: connection refused)"
        );
        assert_eq!(format!("{:?}", LlmError::Unusable("it says planted".into())), "Unusable");
    }
}
