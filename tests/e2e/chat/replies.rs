//! A model's replies, and what remains if there are none.

use std::{fs, net::TcpListener};

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    chat::{
        model::{Model, begins, stream},
        piped, server, stored,
        terminal::Terminal,
    },
    support::binary::{Server, assert_holds},
};

fn roles(asked: &Value) -> Vec<&str> {
    let messages = asked["messages"].as_array().expect("messages");
    messages.iter().filter_map(|message| message["role"].as_str()).collect()
}

#[test]
fn a_model_replies_and_what_it_says_is_kept() {
    let (server, model) = (server(), Model::start());
    server.file("key", "secret\n");
    let url = model.url();
    let arguments = ["talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
    model.next(stream(&["\n\nNine ", "o'clock.\n"], true));
    let first = piped(&server, &arguments, &["When does it leave?"]);
    assert_holds(&first.stderr, &["· model test-1 · talk", "[2 messages]"]);
    assert_eq!(first.worked(), "assistant: Nine o'clock.\n\n");
    let asked = model.asked();
    assert_eq!((&asked["model"], &asked["stream"]), (&json!("test-1"), &json!(true)));
    assert_eq!(asked["messages"], json!([{"role": "user", "content": "When does it leave?"}]));

    model.next(stream(&["From platform 4."], true));
    assert_eq!(piped(&server, &arguments, &["And from where?"]).worked(), "assistant: From platform 4.\n");
    assert_eq!(roles(&model.asked()), ["user", "assistant", "user"]);
    let shown = server.run(&["show", "talk"]).worked();
    assert_holds(&shown, &["Nine o'clock.", "From platform 4."]);
}

/// Seed 004: the conversation's own model, although the server has another one.
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
    let chat = piped(&server, &["talk", "--model", "test-1", "--base-url", &url], &[]);
    assert!(!chat.stderr.contains("does not have the model"), "{}", chat.stderr);
    chat.worked();
    stored(&server, "talk", 40);
    let choice =
        json!({"index": 0, "message": {"content": "- The builds were mended."}, "finish_reason": "stop"});
    model.next(ResponseTemplate::new(200).set_body_json(json!({"model": "test-1", "choices": [choice]})));
    server.run(&["compact", "talk", "--wait"]).worked();
    assert_eq!(model.asked()["model"], "test-1");
    let listed = server.run(&["call", "ListCompactions", r#"{"conversationId": "talk"}"#]).worked();
    assert_holds(&listed, &["SUMMARY_METHOD_LLM", "\"test-1\""]);
    assert_holds(&piped(&server, &["talk"], &["/summary"]).worked(), &["The builds were mended."]);
}

/// A model that the server does not have replies; the chat says that it does not write the summaries.
#[test]
fn a_model_that_the_server_does_not_have_is_named() {
    let model = Model::start();
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("key"), "secret\n").expect("the key is written");
    let url = model.url();
    let llm =
        ["--llm", "openai", "--llm-model", "other", "--llm-base-url", &url, "--llm-api-key-file", "key"];
    let server = Server::start_in(directory, &llm);
    let chat = piped(&server, &["talk", "--model", "test-1", "--base-url", &url], &[]);
    assert_holds(&chat.stderr, &["a new conversation", "the server does not have the model"]);
}

#[test]
fn a_model_that_fails_costs_nothing_and_can_be_asked_again() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let mut chat = Terminal::open(&server, &["failing", "--model", "test-1", "--base-url", &url]);
    let overloaded = json!({"error": {"message": "come back later", "type": "server_error"}});
    model.next(ResponseTemplate::new(503).set_body_json(overloaded));
    chat.line("Hello?");
    chat.shows(&[
        "! the model is not available: 503 Service Unavailable",
        "come back later",
        "your message is stored",
        "[1 message]",
    ]);
    model.next(stream(&["Half a rep"], false));
    chat.line("/retry");
    chat.shows(&[
        "assistant: Half a rep",
        "(broken off)",
        "! the reply was cut off",
        "/keep stores this much",
    ]);
    model.next(stream(&[], true));
    chat.line("/retry");
    chat.shows(&["! the reply is empty", "/retry asks again"]);
    model.next(stream(&["Here ", "I am."], true));
    chat.line("/retry");
    chat.shows(&["assistant: Here I am.", "[2 messages]"]);
    chat.line("/retry");
    chat.shows(&["! nothing waits for a reply"]);
    chat.line("/keep");
    chat.shows(&["! there is no reply that is not stored"]);
}

#[test]
fn a_reply_is_shown_as_it_comes_and_what_came_is_stored_when_asked() {
    let server = server();
    let url = begins("Half a rep");
    let mut chat = Terminal::open(&server, &["half", "--model", "test-1", "--base-url", &url]);
    chat.line("Hello?");
    chat.shows(&["assistant: Half a rep"]);
    chat.interrupt();
    chat.shows(&["(broken off)", "· stopped", "/keep stores this much of the reply", "[1 message]"]);
    chat.line("/keep");
    chat.shows(&["[2 messages]"]);
    let shown: Value = serde_json::from_str(&server.run(&["show", "half", "--json"]).worked()).expect("JSON");
    assert_eq!(shown["utterances"][1]["content"], "Half a rep");
    assert_eq!(shown["utterances"][1]["metadata"], json!({"broken_off": "true"}));
    Terminal::open(&server, &["half"]).shows(&["assistant: Half a rep", "(broken off)"]);
}

#[test]
fn the_first_failure_ends_a_chat_over_a_pipe() {
    let (server, model) = (server(), Model::start());
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let nowhere = format!("http://{}/v1", free.expect("a free port"));
    let arguments = |url| ["pipe", "--model", "test-1", "--base-url", url];
    let failed = piped(&server, &arguments(&nowhere), &["Hello?", "never said"]).failed(1);
    assert_holds(&failed, &["your message is stored", "Connection refused"]);
    model.next(stream(&["Here I am."], true));
    let url = model.url();
    assert_eq!(piped(&server, &arguments(&url), &["/retry"]).worked(), "assistant: Here I am.\n");
    assert_eq!(roles(&model.asked()), ["user"]);
}

#[test]
fn the_model_waits_for_the_answer_to_the_question() {
    let (server, model) = (server(), Model::start());
    stored(&server, "asked", 50);
    let url = model.url();
    let arguments = ["asked", "--model", "test-1", "--base-url", &url];
    model.next(stream(&["Done."], true));
    let chat = piped(&server, &arguments, &["Go on.", "y"]);
    assert_holds(&chat.stderr, &["Your conversation has 51 messages", "[Summary + 16 messages]"]);
    assert_holds(&chat.worked(), &["Compacted 36 messages", "assistant: Done.\n"]);
    let asked = model.asked();
    assert_eq!(roles(&asked).len(), 1 + 15);
    let summary = asked["messages"][0]["content"].as_str().expect("a text");
    assert!(summary.starts_with("[CONVERSATION HISTORY SUMMARY - 36 messages]"), "{summary}");
}

#[test]
fn at_the_end_of_a_pipe_the_model_is_asked_without_an_answer() {
    let (server, model) = (server(), Model::start());
    stored(&server, "open", 50);
    let url = model.url();
    model.next(stream(&["Done."], true));
    let chat = piped(&server, &["open", "--model", "test-1", "--base-url", &url], &["Go on."]);
    assert_holds(&chat.stderr, &["Your conversation has 51 messages", "[52 messages]"]);
    assert_eq!(chat.worked(), "assistant: Done.\n");
}
