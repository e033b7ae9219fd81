//! A model that answers when a test says so.
#![allow(dead_code)] // each test uses its part

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use tokio::sync::{oneshot, watch};
use utterd::{
    engine::models::llm::{LlmError, LlmSummarizer, LlmSummary, Material},
    store::BoxFuture,
};

/// The model that is called if a conversation names none.
pub const MODEL: &str = "test-model";

/// Another model that a conversation can name.
pub const OWN_MODEL: &str = "their-model";

/// A model whose calls wait for the test.
pub struct Model {
    accepted: Vec<&'static str>,
    calls: Mutex<VecDeque<Call>>,
    count: watch::Sender<usize>,
}

/// A call that waits for its answer.
pub struct Call {
    pub material: Material,
    answer: oneshot::Sender<Result<LlmSummary, LlmError>>,
}

impl Model {
    pub fn new() -> Arc<Self> {
        Self::accepting(vec![MODEL, OWN_MODEL])
    }

    /// A model of which conversations can only choose these names.
    pub fn accepting(accepted: Vec<&'static str>) -> Arc<Self> {
        Arc::new(Self { accepted, calls: Mutex::default(), count: watch::Sender::new(0) })
    }

    /// The oldest waiting call, once there is one.
    pub async fn called(&self) -> Call {
        self.count.subscribe().wait_for(|count| *count > 0).await.expect("the model lives");
        self.take(0).expect("a call waits")
    }

    /// One of the waiting calls.
    pub fn take(&self, which: usize) -> Option<Call> {
        let mut calls = self.calls.lock().expect("nobody panicked");
        let which = which % calls.len().max(1);
        let call = calls.remove(which);
        self.count.send_replace(calls.len());
        call
    }
}

impl Call {
    /// Answers with a text.
    pub fn tell(self, text: &str) {
        let model = self.material.model.as_deref().unwrap_or(MODEL).to_owned();
        // a caller that has disconnected receives nothing
        let _ = self.answer.send(Ok(LlmSummary { text: text.to_owned(), model, usage: None }));
    }

    /// Answers with an error.
    pub fn fail(self, error: LlmError) {
        let _ = self.answer.send(Err(error));
    }

    /// The server does not answer.
    pub fn break_off(self) {
        let message = "connection refused".to_owned();
        self.fail(LlmError::Unavailable { message, retry_after: None });
    }

    /// Everything that the model was shown.
    pub fn shown(&self) -> String {
        let said = self.material.said.iter().map(|utterance| format!("{}\n", utterance.content));
        format!("{}{}{}", self.material.before, self.material.told, said.collect::<String>())
    }
}

impl LlmSummarizer for Model {
    fn model(&self) -> &str {
        MODEL
    }

    fn models(&self) -> Vec<&str> {
        self.accepted.clone()
    }

    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>> {
        let (answer, answered) = oneshot::channel();
        let mut calls = self.calls.lock().expect("nobody panicked");
        calls.push_back(Call { material, answer });
        self.count.send_replace(calls.len());
        let gone = || Err(LlmError::Unusable("the test dropped the call".to_owned()));
        Box::pin(async move { answered.await.unwrap_or_else(|_| gone()) })
    }
}
