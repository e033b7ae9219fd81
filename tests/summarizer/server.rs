//! A server of models that answers what a test tells it to.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use url::Url;
use utterd::{
    engine::llm::{LlmError, LlmSummarizer, Material, Told},
    summarizer::{LlmSettings, Protocol, build},
};
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

/// The key that clients show.
pub const KEY: &str = "sk-test-1";

/// A server that gives one answer to everything.
pub struct Models {
    server: MockServer,
    protocol: Protocol,
}

impl Models {
    /// A server that answers so.
    pub async fn answering(protocol: Protocol, answer: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        Self { server, protocol }
    }

    /// A server that answers with `body`.
    pub async fn with_body(protocol: Protocol, body: Value) -> Self {
        Self::answering(protocol, ResponseTemplate::new(200).set_body_json(body)).await
    }

    /// A client of it.
    pub fn client(&self) -> Arc<dyn LlmSummarizer> {
        client(self.protocol, &self.server.uri())
    }

    /// Where it is.
    pub fn uri(&self) -> String {
        self.server.uri()
    }

    /// Asks it once.
    pub async fn asked(&self, material: Material) -> Result<Told, LlmError> {
        self.client().summarize(material).await
    }

    /// Asks it once, for what is no summary.
    pub async fn failed(&self) -> LlmError {
        let failed = self.asked(super::material::small()).await.unwrap_err();
        assert_eq!(self.requests().await.len(), 1, "one call is one attempt");
        failed
    }

    /// What it was asked.
    pub async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    /// The body of what it was asked last.
    pub async fn last_body(&self) -> Value {
        self.requests().await.last().unwrap().body_json().unwrap()
    }
}

/// A client of the server at `uri`, for the model `small-1`.
pub fn client(protocol: Protocol, uri: &str) -> Arc<dyn LlmSummarizer> {
    let environment = |name: &str| (name == "UTTERD_LLM_API_KEY").then(|| KEY.to_owned());
    build(&settings(protocol, uri), environment).unwrap()
}

/// The settings for the server at `uri`.
pub fn settings(protocol: Protocol, uri: &str) -> LlmSettings {
    let path = if protocol == Protocol::OpenAi { "/v1" } else { "" };
    LlmSettings {
        protocol,
        base_url: Some(Url::parse(&format!("{uri}{path}")).unwrap()),
        model: "small-1".into(),
        others: vec!["own-2".into()],
        api_key_file: None,
        timeout: Duration::from_secs(30),
    }
}

/// An answer that says `text` and ends as the protocol's answers end.
pub fn saying(protocol: Protocol, text: &str) -> Value {
    match protocol {
        Protocol::OpenAi => ended(protocol, text, "stop"),
        Protocol::Anthropic => ended(protocol, text, "end_turn"),
    }
}

/// An answer that says `text` and ends for `reason`.
pub fn ended(protocol: Protocol, text: &str, reason: &str) -> Value {
    match protocol {
        Protocol::OpenAi => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small-1-2026",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
        }),
        Protocol::Anthropic => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "small-1-2026",
            "content": [{"type": "text", "text": text}],
            "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1},
        }),
    }
}
