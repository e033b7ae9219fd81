//! The engine's interface to a model.

use std::{fmt, sync::Arc, time::Duration};

use utterd_domain::{Utterance, extract::Talk};
use utterd_store::BoxFuture;
use utterd_telemetry::panics::{Panicked, Within};

/// Writes summaries with a model.
pub trait LlmSummarizer: Send + Sync + 'static {
    /// Returns the model for conversations that name none.
    fn model(&self) -> &str;

    /// Returns the models that a conversation may name as its own; by default only [`Self::model`].
    fn models(&self) -> Vec<&str> {
        vec![self.model()]
    }

    /// Asks for a summary, once.
    ///
    /// - Answers within the configured timeout; dropping the future ends the request.
    /// - Never repeats a failed request: the caller decides whether and when to.
    /// - The model reads `material` and nothing else. Utterances that are not live, and instructions, are left
    ///   out; long utterances are cut to their head and tail. The caller bounds the number of utterances.
    /// - A summary is trimmed and not empty. The model counts tokens in its own way: a caller with a limit has
    ///   to count them again.
    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>>;
}

/// The task for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// A summary from which the conversation can continue.
    #[default]
    Summary,
    /// A title and a closing summary of the whole conversation, in the form read by
    /// [`told`](utterd_domain::closing::told()).
    Closing,
}

/// The material for a summary.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// The task.
    pub task: Task,
    /// The conversation's own model.
    pub model: Option<Arc<str>>,
    /// The summary of what came before: context only, not to be summarised again.
    pub before: String,
    /// Earlier summary text of the part to be summarised, where the utterances themselves are no longer stored
    /// or were already summarised.
    pub told: String,
    /// Facts the summary must keep: calls that changed something, identifiers.
    pub facts: Vec<String>,
    /// The utterances to be summarised, in order.
    pub said: Vec<Arc<Utterance>>,
    /// Topics to pay special attention to.
    pub focus: Vec<String>,
    /// The kind of conversation, if recognized: it adds topics to pay attention to.
    pub kind: Option<Talk>,
    /// The summary's limit in tokens.
    pub max_tokens: u32,
}

/// A model's summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmSummary {
    /// The summary; not empty.
    pub text: String,
    /// The model that wrote it, as named by its server.
    pub model: String,
    /// The tokens of the call, if the server reports them.
    pub usage: Option<Usage>,
}

/// The tokens of a call, as the model's server counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The tokens of the request.
    pub input: u64,
    /// The tokens of the answer.
    pub output: u64,
}

/// Why there is no summary. The message may quote the model's server, which may quote the request. The `Debug`
/// form is for logs, and quotes neither.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// There was no answer, at least for now: the same request may succeed later.
    #[error("the model is not available: {message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// The pause that the server asks for.
        retry_after: Option<Duration>,
    },
    /// The server rejects the request, because of a wrong key or an unknown model. The same request will not
    /// succeed later.
    #[error("the model's server refused the request: {0}")]
    Refused(String),
    /// The model answered, but not with a summary: the answer is empty, cut off at the token limit, too long,
    /// or garbled.
    #[error("the model's answer cannot be used: {0}")]
    Unusable(String),
}

/// Makes a call to a model, which may take `timeout`. A panic of the model's client is an error.
pub(crate) async fn call_within<T>(
    timeout: Duration,
    call: impl Future<Output = Result<T, LlmError>>,
) -> Result<T, LlmError> {
    match tokio::time::timeout(timeout, Within::Background.catching(call)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(Panicked)) => Err(LlmError::Unusable("its client panicked".to_owned())),
        Err(_) => {
            let message = format!("no answer within {timeout:?}");
            Err(LlmError::Unavailable { message, retry_after: None })
        }
    }
}

impl LlmError {
    /// Returns one word for the kind of error, for metrics and traces.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::Refused(_) => "refused",
            Self::Unusable(_) => "unusable",
        }
    }
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

/// Cuts a message that begins with an HTTP status down to the status: the rest is in the server's words.
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
