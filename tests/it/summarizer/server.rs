//! A model server with configured responses.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use utterd::{
    engine::models::llm::{LlmError, LlmSummarizer, LlmSummary, Material},
    summarizer::{LlmSettings, Protocol, build},
};
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

/// The key that clients send.
pub const KEY: &str = "sk-test-1";

/// A server that gives the same response to everything.
pub struct Models {
    server: MockServer,
    protocol: Protocol,
}

impl Models {
    /// A server with this response.
    pub async fn answering(protocol: Protocol, answer: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        Self { server, protocol }
    }

    /// A server that responds with `body`.
    pub async fn with_body(protocol: Protocol, body: Value) -> Self {
        Self::answering(protocol, ResponseTemplate::new(200).set_body_json(body)).await
    }

    /// A client of it.
    pub fn client(&self) -> Arc<dyn LlmSummarizer> {
        client(self.protocol, &self.server.uri())
    }

    /// Its address.
    pub fn uri(&self) -> String {
        self.server.uri()
    }

    /// Calls it once.
    pub async fn asked(&self, material: Material) -> Result<LlmSummary, LlmError> {
        self.client().summarize(material).await
    }

    /// Calls it once, expecting an error.
    pub async fn failed(&self) -> LlmError {
        let failed = self.asked(super::material::small()).await.unwrap_err();
        assert_eq!(self.requests().await.len(), 1, "one call is one attempt");
        failed
    }

    /// The requests it received.
    pub async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    /// The body of the last request.
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
        base_url: Some(format!("{uri}{path}").parse().unwrap()),
        model: "small-1".into(),
        others: vec!["own-2".into()],
        api_key_file: None,
        timeout: Duration::from_secs(30),
    }
}

/// A response with the text `text` and the protocol's usual end.
pub fn saying(protocol: Protocol, text: &str) -> Value {
    match protocol {
        Protocol::OpenAi => ended(protocol, text, "stop"),
        Protocol::Anthropic => ended(protocol, text, "end_turn"),
    }
}

/// A response with the text `text` that ends for `reason`.
pub fn ended(protocol: Protocol, text: &str, reason: &str) -> Value {
    match protocol {
        Protocol::OpenAi => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small-1-2026",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47},
        }),
        Protocol::Anthropic => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "small-1-2026",
            "content": [{"type": "text", "text": text}],
            "stop_reason": reason, "usage": {"input_tokens": 40, "output_tokens": 7},
        }),
    }
}
