//! The metrics of the calls to a model.

use super::summarizer::{LlmError, LlmSummary, Usage};
use utterd_telemetry::{Histogram, IntCounterVec, Registry, by, seconds};

/// The metrics of the calls to a model.
pub(super) struct Meters {
    calls: IntCounterVec,
    tokens: IntCounterVec,
    pub(super) call: Histogram,
}

impl Meters {
    pub(super) fn new() -> Self {
        Self {
            calls: by(
                &["outcome"],
                "utterd_llm_calls_total",
                "Calls to the model that writes summaries, by their outcome.",
            ),
            tokens: by(
                &["kind"],
                "utterd_llm_tokens_total",
                "Tokens that the model's server reports: of the requests (input) and the answers (output).",
            ),
            call: seconds("utterd_llm_call_seconds", "How long a call to the model takes."),
        }
    }

    /// Counts a call.
    pub(super) fn called(&self, answer: &Result<LlmSummary, LlmError>) {
        let outcome = match answer {
            Ok(_) => "answered",
            Err(error) => error.kind(),
        };
        self.calls.with_label_values(&[outcome]).inc();
        if let Ok(LlmSummary { usage: Some(Usage { input, output }), .. }) = answer {
            self.tokens.with_label_values(&["input"]).inc_by(*input);
            self.tokens.with_label_values(&["output"]).inc_by(*output);
        }
    }

    pub(super) fn register(&self, registry: &Registry) {
        [&self.calls, &self.tokens].into_iter().for_each(|it| registry.add(it));
        registry.add(&self.call);
    }
}
