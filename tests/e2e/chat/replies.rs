//! A model's replies, and what remains if there are none.

use std::{fs, net::TcpListener, time::Duration};

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    chat::{
        model::{Model, chunks, stream},
        server, stored,
        terminal::Terminal,
    },
    support::binary::Server,
};

#[test]
fn a_model_replies_and_what_it_says_is_kept() {
    let (server, model) = (server(), Model::start());
    server.file("key", "secret\n");
    let url = model.url();
    let arguments = ["talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
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
    let shown = server.run(&["show", "talk"]).worked();
    assert!(shown.contains("From platform 4."), "{shown}");
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
    let arguments = ["talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
    let chat = Terminal::open(&server, &arguments);
    chat.shows(&["model test-1 · talk"]);
    stored(&server, "talk", 40);
    let choice =
        json!({"index": 0, "message": {"content": "- The builds were mended."}, "finish_reason": "stop"});
    model.next(ResponseTemplate::new(200).set_body_json(json!({"model": "test-1", "choices": [choice]})));
    server.run(&["compact", "talk", "--wait"]).worked();
    assert_eq!(model.asked()["model"], "test-1");
    let listed = server.run(&["compact", "talk", "--list"]).worked();
    assert!(listed.contains("llm test-1"), "{listed}");
}

/// A model that the server does not have replies; the chat says that another one writes the summaries.
#[test]
fn another_model_that_summarises_is_named() {
    let model = Model::start();
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("key"), "secret\n").expect("the key is written");
    let url = model.url();
    let llm =
        ["--llm", "openai", "--llm-model", "other", "--llm-base-url", &url, "--llm-api-key-file", "key"];
    let server = Server::start_in(directory, &llm);
    let arguments = ["talk", "--model", "test-1", "--base-url", &url, "--api-key-file", "key"];
    for opened in ["a new conversation", "this conversation goes on"] {
        let chat = Terminal::open(&server, &arguments);
        chat.shows(&[opened, "the server's own model writes its summaries, not test-1"]);
    }
}

#[test]
fn a_model_that_fails_costs_nothing_and_can_be_asked_again() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let arguments = ["failing", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model test-1"]);
    let overloaded = json!({"error": {"message": "come back later", "type": "server_error"}});
    model.next(ResponseTemplate::new(503).set_body_json(overloaded));
    chat.line("Hello?");
    chat.shows(&[
        "! no reply: 503 Service Unavailable",
        "your message is stored; /retry asks again",
        "[1 message]",
    ]);
    model.next(stream(&["Half a rep"], false));
    chat.line("/retry");
    chat.shows(&[
        "assistant  Half a rep",
        "! the reply was cut off",
        "/keep stores this much",
        "[1 message]",
    ]);
    model.next(stream(&[], true));
    chat.line("/retry");
    chat.shows(&["! no reply: the reply is empty", "[1 message]"]);
    model.next(stream(&["Here I am."], true));
    chat.line("/retry");
    chat.shows(&["assistant  Here I am.", "[2 messages]"]);
    let screen = chat.shows(&["assistant  Half a rep"]);
    assert!(screen.find("Half a rep") < screen.find("Here I am."), "{screen}");
    chat.line("/retry");
    chat.shows(&["! nothing waits for a reply"]);
}

#[test]
fn a_reply_that_breaks_off_is_stored_as_that_when_asked() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let arguments = ["half", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model test-1"]);
    model.next(stream(&["Half a rep"], false));
    chat.line("Hello?");
    chat.shows(&["(broken off)", "! the reply was cut off"]);
    chat.line("/keep");
    chat.shows(&["[2 messages]", "(broken off)"]);
    let shown: Value = serde_json::from_str(&server.run(&["show", "half", "--json"]).worked()).expect("JSON");
    assert_eq!(shown["utterances"][1]["content"], "Half a rep");
    assert_eq!(shown["utterances"][1]["metadata"], json!({"broken_off": "true"}));
    drop(chat);
    Terminal::open(&server, &["half"]).shows(&["assistant  Half a rep", "(broken off)"]);
}

#[test]
fn a_reply_is_stopped_by_escape_and_by_control_c() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let arguments = ["stopped", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model test-1"]);
    for (key, number) in [("\x1b", 1), ("\x03", 2)] {
        model.next(stream(&["never"], true).set_delay(Duration::from_secs(600)));
        chat.line("Hello?");
        chat.shows(&["replying; Esc stops it", &format!("[{number} message")]);
        chat.keys(key);
        chat.shows(&["· stopped; /retry asks again", "  /help"]);
    }
}

#[test]
fn a_reply_of_tool_calls_alone_is_shown_as_these() {
    let (server, model) = (server(), Model::start());
    let url = model.url();
    let arguments = ["calls", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["model test-1"]);
    let call =
        |function: Value| json!({"index": 0, "id": "call_1", "type": "function", "function": function});
    let begun = json!({"tool_calls": [call(json!({"name": "look_up", "arguments": "{\"city\":"}))]});
    let rest = json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"Oslo\"}"}}]});
    model.next(chunks(&[(begun, Value::Null), (rest, Value::Null), (json!({}), json!("tool_calls"))]));
    chat.line("What is the weather in Oslo?");
    chat.shows(&[r#"assistant  → look_up({"city":"Oslo"})"#, "a chat does not run", "[2 messages]"]);
    model.next(stream(&["Cold, I guess."], true));
    chat.line("Then guess.");
    chat.shows(&["assistant  Cold, I guess.", "[4 messages]"]);
}

#[test]
fn the_model_waits_for_the_answer_to_the_question() {
    let (server, model) = (server(), Model::start());
    crate::chat::stored(&server, "asked", 50);
    let url = model.url();
    let arguments = ["asked", "--model", "test-1", "--base-url", &url];
    let mut chat = Terminal::open_with(&server, &arguments, &[("OPENAI_API_KEY", "secret")]);
    chat.shows(&["[50 messages]"]);
    model.next(stream(&["Done."], true));
    chat.line("Go on.");
    chat.shows(&["The conversation has 51 messages"]);
    chat.line("y");
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
    let mut chat = Terminal::open(&server, &["alone", "--model", "test-1", "--base-url", &url]);
    chat.shows(&["[0 messages]"]);
    chat.line("Hello?");
    chat.shows(&["! no reply: ", "Connection refused", "[1 message]"]);
}
