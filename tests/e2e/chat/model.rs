//! A mock model server.

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path},
};

/// A model server with configured responses.
pub struct Model {
    runtime: Runtime,
    server: MockServer,
}

impl Model {
    pub fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(MockServer::start());
        Self { runtime, server }
    }

    /// Answers only the next request with `answer`.
    pub fn next(&self, answer: ResponseTemplate) {
        let mock = Mock::given(method("POST")).and(path("/v1/chat/completions"));
        let mock = mock.and(header("authorization", "Bearer secret")).respond_with(answer).up_to_n_times(1);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// The body of the last request.
    pub fn asked(&self) -> Value {
        let requests = self.runtime.block_on(self.server.received_requests()).expect("they are kept");
        requests.last().expect("it was asked").body_json().expect("JSON")
    }

    pub fn url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }
}

/// A streamed reply; if not `ended`, it is cut off.
pub fn stream(pieces: &[&str], ended: bool) -> ResponseTemplate {
    let mut deltas: Vec<_> = pieces.iter().map(|piece| (json!({"content": piece}), Value::Null)).collect();
    deltas.extend(ended.then(|| (json!({}), json!("stop"))));
    chunks(&deltas)
}

/// A reply with these deltas, each with its finish reason.
pub fn chunks(deltas: &[(Value, Value)]) -> ResponseTemplate {
    let chunk = |(delta, finish): &(Value, Value)| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut body: String = deltas.iter().map(chunk).collect();
    if deltas.last().is_some_and(|(_, finish)| !finish.is_null()) {
        body += "data: [DONE]\n\n";
    }
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}
