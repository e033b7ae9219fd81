//! A mock model server.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
};

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

/// The address of a model server that begins a reply with `piece`, and then says nothing more.
pub fn begins(piece: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("it has one"));
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a caller");
        let mut request = BufReader::new(&stream).lines();
        while request.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        (&stream).write_all(format!("{head}data: {chunk}\n\n").as_bytes()).expect("it listens");
        // the connection stays open until the caller closes it
        request.for_each(drop);
    });
    url
}
