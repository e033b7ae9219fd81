//! Replies of a model, and what is left when there is none.

use std::{fs, net::TcpListener};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path},
};

use crate::{binary::Server, server, stored, terminal::Terminal};

/// A model's server, which answers as it was told to.
struct Model {
    runtime: Runtime,
    server: MockServer,
}

impl Model {
    fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(MockServer::start());
        Self { runtime, server }
    }

    /// Answers the next request, and only that, with `answer`.
    fn next(&self, answer: ResponseTemplate) {
        let mock = Mock::given(method("POST")).and(path("/v1/chat/completions"));
        let mock = mock.and(header("authorization", "Bearer secret")).respond_with(answer).up_to_n_times(1);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// The body of the last request.
    fn asked(&self) -> Value {
        let requests = self.runtime.block_on(self.server.received_requests()).expect("they are kept");
        requests.last().expect("it was asked").body_json().expect("JSON")
    }

    fn url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }
}

/// A reply in pieces; without its end it was cut off.
fn stream(pieces: &[&str], ended: bool) -> ResponseTemplate {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut body: String = pieces.iter().map(|piece| chunk(json!({"content": piece}), Value::Null)).collect();
    if ended {
        body += &chunk(json!({}), json!("stop"));
        body += "data: [DONE]\n\n";
    }
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}

#[test]
fn a_model_replies_and_what_it_says_is_kept() {
    let (server, model) = (server(), Model::start());
    server.file("key", "secret\n");
    let url = model.url();
    let arguments = ["-c", "talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
    let mut chat = Terminal::open(&server, &arguments);
    chat.shows(&["model test-1 · talk"]);
    model.next(stream(&["Nine ", "o'clock."], true));
    chat.line("When does it leave?");
    chat.shows(&["assistant  Nine o'clock.", "[2 messages]"]);
    let asked = model.asked();
    assert_eq!((&asked["model"], &asked["stream"]), (&json!("test-1"), &json!(true)));
    assert_eq!(asked["messages"], json!([{"role": "user", "content": "When does it leave?"}]));

    model.next(stream(&["From platform 4."], true));
    chat.line("And from where?");
    chat.shows(&["assistant  From platform 4.", "[4 messages]"]);
    let roles = |message: &Value| message["role"].as_str().map(str::to_owned);
    let asked: Vec<_> =
        model.asked()["messages"].as_array().expect("messages").iter().filter_map(roles).collect();
    assert_eq!(asked, ["user", "assistant", "user"]);
    let shown = server.run(&["show", "-c", "talk"]).worked();
    assert!(shown.contains("From platform 4."), "{shown}");
}

/// Seed 004: the same model as the conversation's. The server has one of its own.
#[test]
fn the_model_that_replies_summarises_too() {
    let model = Model::start();
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("key"), "secret\n").expect("the key is written");
    let url = model.url();
    let llm = [
        "--llm",
        "openai",
        "--llm-model",
        "other",
        "--llm-models",
        "test-1",
        "--llm-base-url",
        &url,
        "--llm-api-key-file",
        "key",
    ];
    let server = Server::start_in(directory, &[&["--preset", "session"], &llm[..]].concat());
    let arguments = ["-c", "talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
    let chat = Terminal::open(&server, &arguments);
    chat.shows(&["model test-1 · talk"]);
    stored(&server, "talk", 40);
    let choice =
        json!({"index": 0, "message": {"content": "- The builds were mended."}, "finish_reason": "stop"});
    model.next(ResponseTemplate::new(200).set_body_json(json!({"model": "test-1", "choices": [choice]})));
    server.run(&["compact", "-c", "talk", "--wait"]).worked();
    assert_eq!(model.asked()["model"], "test-1");
    let listed = server.run(&["compact", "-c", "talk", "--list"]).worked();
    assert!(listed.contains("llm test-1"), "{listed}");
}

#[test]
fn a_model_that_fails_costs_nothing_and_can_be_asked_again() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let arguments = ["-c", "failing", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model test-1"]);
    let overloaded = json!({"error": {"message": "come back later", "type": "server_error"}});
    model.next(ResponseTemplate::new(503).set_body_json(overloaded));
    chat.line("Hello?");
    chat.shows(&[
        "! no reply: 503 Service Unavailable",
        "your message is kept; /retry asks again",
        "[1 message]",
    ]);
    model.next(stream(&["Half a rep"], false));
    chat.line("/retry");
    chat.shows(&["! no reply: the reply was cut off", "[1 message]"]);
    model.next(stream(&[], true));
    chat.line("/retry");
    chat.shows(&["! no reply: the reply is empty", "[1 message]"]);
    model.next(stream(&["Here I am."], true));
    chat.line("/retry");
    chat.shows(&["assistant  Here I am.", "[2 messages]"]);
    chat.line("/retry");
    chat.shows(&["! nothing waits for a reply"]);
}

#[test]
fn the_model_waits_for_the_answer_to_the_dialog() {
    let (server, model) = (server(), Model::start());
    crate::stored(&server, "asked", 50);
    let url = model.url();
    let arguments = ["-c", "asked", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["[50 messages]"]);
    model.next(stream(&["Done."], true));
    chat.line("Go on.");
    chat.shows(&["Your conversation has 51 messages"]);
    chat.keys("y");
    chat.shows(&["assistant  Done.", "[Summary + 16 messages]"]);
    let asked = model.asked();
    let asked = asked["messages"].as_array().expect("messages");
    assert_eq!(asked.len(), 1 + 15);
    let summary = asked[0]["content"].as_str().expect("a text");
    assert!(summary.starts_with("[CONVERSATION HISTORY SUMMARY - 36 messages]"), "{summary}");
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let server = server();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = format!("http://{}/v1", free.expect("a free port"));
    let mut chat = Terminal::open(&server, &["-c", "alone", "--model", "test-1", "--base-url", &url]);
    chat.shows(&["[0 messages]"]);
    chat.line("Hello?");
    chat.shows(&["! no reply: ", "Connection refused", "[1 message]"]);
}
