//! The binary as a person uses it: a real server process, and commands that call it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::Stdio,
};

mod backups;
mod call;
mod compaction;
mod conversations;
mod demo;
mod errors;
mod files;
mod follow;
mod guarded;
mod managing;
mod pages;
mod secrets;
mod stores;

use serde_json::json;

use crate::support::binary::{Outcome, Process, Server, assert_holds, line_with, utterd};

#[test]
fn what_is_memorized_is_shown_found_summarised_and_forgotten() {
    let server = Server::shared();
    let stored = server.run(&["memorize", "--to", "demo", "The train leaves at nine."]).worked();
    assert_holds(&stored, &["memorized 1 in turn 1 of the new conversation demo: ", "tokens"]);

    let call = json!({ "id": "c1", "name": "lookup_train", "argumentsJson": "{\"id\": 7}" });
    let exchange = json!([
        { "role": "ROLE_ASSISTANT", "toolCalls": [call] },
        { "role": "ROLE_TOOL", "toolCallId": "c1", "content": "platform 4\non time" },
    ]);
    let stored = json!({ "conversationId": "demo", "utterances": exchange }).to_string();
    server.run(&["call", "Memorize", &stored]).worked();
    let mut piped = server.command(&["memorize", "--to", "demo", "--role", "assistant", "--pin", "-"]);
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(b"From platform 4.\n").expect("stdin is read");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());

    let shown = server.run(&["show", "demo"]).worked();
    assert_holds(
        &shown,
        &[
            "The train leaves at nine.",
            "→ lookup_train({\"id\": 7})",
            "← platform 4⏎on time\n",
            "4* t1  assistant",
            "* pinned",
            "] ",
            " of 8,000 tokens · 4 of 20 utterances · 1 turn",
        ],
    );
    assert!(!shown.contains('\u{1b}'), "colours are for terminals only");
    let json: serde_json::Value =
        serde_json::from_str(&server.run(&["show", "demo", "--json"]).worked()).expect("JSON");
    assert_eq!(json["utterances"][2]["content"], "platform 4\non time");
    assert_eq!(json["capacity"]["utteranceCount"], 4);

    let found = server.run(&["remember", "demo", "--role", "user", "train"]).worked();
    assert_holds(&found, &["demo 1  user", "The train leaves at nine."]);
    assert_eq!(found.lines().count(), 1);

    let summary = server.run(&["summarize", "demo", "--recent", "1", "--focus", "platform"]).worked();
    assert_holds(&summary, &["platform 4"]);

    let context = ["context", "demo", "--format", "anthropic", "--instructions", "Be brief.", "--turns", "1"];
    let json: serde_json::Value = serde_json::from_str(&server.run(&context).worked()).expect("JSON");
    assert_eq!(
        (&json["system"][0]["text"], &json["messages"][0]["role"]),
        (&"Be brief.".into(), &"user".into())
    );
    let text = server.run(&["context", "demo", "--format", "text", "--recall", "train"]).worked();
    assert_holds(&text, &["## Current Conversation\n", "User: The train leaves at nine."]);
    let error = server.run(&["context", "demo", "--budget", "1"]).failed(1);
    assert_holds(&error, &["token_budget: is 1; accepted: "]);

    let ended = server.run(&["end", "demo", "--reason", "task completed"]).worked();
    assert_holds(&ended, &["ended demo\n", "From platform 4."]);
    let shown = server.run(&["show", "demo"]).worked();
    assert_holds(&shown, &["closed"]);

    let tried = server.run(&["forget", "demo", "--dry-run", "sequence:1"]).worked();
    assert_holds(&tried, &["would forget 1 utterance (1)", "\n\n1  user  The train leaves at nine.\n"]);
    let forgotten = server.run(&["forget", "demo", "sequence:1"]).worked();
    assert_holds(&forgotten, &["forgot 1 utterance (1), understood as sequence:1"]);
    let nothing = server.run(&["forget", "demo", "--hard", "position:99"]).worked();
    assert_holds(&nothing, &["forgot 0 utterances for good", "warning: nothing is forgotten: position:99"]);
    assert_holds(&server.run(&["show", "demo"]).worked(), &["1×", "× forgotten", "1 forgotten"]);

    let capacity = server.run(&["capacity", "demo"]).worked();
    assert_holds(&capacity, &["demo · closed · revision ", "of 8,000 tokens", "summary: 0 of 1,000 tokens"]);
    let json = server.run(&["capacity", "demo", "--json"]).worked();
    assert_holds(&json, &["\"softDeletedCount\": 1", "\"availableUtterances\": 16"]);
}

#[test]
fn a_refusal_is_told_field_by_field() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "refused", "hello"]).worked();
    let error = server.run(&["forget", "refused", "gibberish about nothing:"]).failed(1);
    assert_holds(&error, &["error: instructions: ", "[INSTRUCTION_NOT_UNDERSTOOD]"]);
    let error = server.run(&["show", "elsewhere"]).failed(3);
    assert_holds(&error, &["[CONVERSATION_NOT_FOUND]", "elsewhere"]);
    assert_holds(&server.run(&["memorize"]).failed(2), &["TEXT is missing, and stdin is empty"]);
    let error = server.run(&["memorize", "hello", "world"]).failed(2);
    assert_holds(&error, &["unexpected argument 'world' found"]);
}

/// An orphan result, an empty message, a reused call id, parts, and a role with another name.
const IRREGULAR: &str = r#"{"id":"a","messages":[
    {"role":"system","content":"Be brief."},
    {"role":"tool","tool_call_id":"ghost","content":"boo"},
    {"role":"user","content":[{"type":"text","text":"Where is"},{"type":"text","text":"my order?"}]},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"find","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"c","content":"shipped"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"find","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"c","content":"arrived"},
    {"role":"assistant","content":""},
    {"role":"human","content":"a remark","stop":"x"}
]}"#;

#[test]
fn a_transcript_is_imported_once_however_often() {
    let server = Server::shared();
    let odd = IRREGULAR.replace('\n', "").replace("\"a\"", "\"twice\"");
    server.file("twice.jsonl", &format!("{odd}\n{}\n", r#"{"id":"empty","messages":[]}"#));
    let first = server.run(&["import", "twice.jsonl"]).worked();
    assert_holds(&first, &["imported 2 conversations (2 new): 9 utterances, 2 irregular, in "]);
    let capacity = server.run(&["capacity", "twice"]).worked();
    let again = server.run(&["import", "twice.jsonl"]).worked();
    assert_holds(&again, &["imported 2 conversations (0 new): 0 utterances, 9 already there, in "]);
    assert_eq!(server.run(&["capacity", "twice"]).worked(), capacity);
    let shown = server.run(&["show", "twice"]).worked();
    assert_holds(&shown, &["Where is⏎my order?", "← shipped", "← arrived", "2! ", "! kept aside"]);
}

#[test]
fn a_transcript_that_grew_is_continued() {
    let server = Server::shared();
    let hello = "{\"role\":\"user\",\"content\":\"hello\"}\n";
    server.file("grown.jsonl", hello);
    server.run(&["import", "grown.jsonl"]).worked();
    server.file("grown.jsonl", &format!("{hello}{{\"role\":\"assistant\",\"content\":\"hi\"}}\n"));
    let again = server.run(&["import", "grown.jsonl"]).worked();
    assert_holds(&again, &["imported 1 conversation (0 new): 1 utterance, 1 already there"]);

    server.file("broken.json", "[{\"role\":");
    let outcome = server.run(&["import", "broken.json", "missing.json", "grown.jsonl"]);
    assert_eq!(outcome.code, Some(1));
    assert_holds(
        &outcome.stderr,
        &["failed: broken.json: ", "failed: missing.json: ", "error: 2 files failed"],
    );
    assert_holds(&outcome.stdout, &["imported 1 conversation (0 new): 0 utterances"]);
}

#[test]
fn flags_beat_variables_beat_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("utterd.toml"), "max_batch = 3\nmax_tokens = 5\nlog = 'warn'\n")
        .expect("the file is written");
    let mut command = utterd(directory.path());
    command.args(["config", "--log", "debug"]);
    command.env("UTTERD_LOG", "trace").env("UTTERD_MAX_TOKENS", "6").env("UTTERD_SERVICE_HOST", "10.0.0.1");
    let shown = Outcome::of(&mut command).worked();
    let line = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    assert_holds(&line("log"), &["log = \"debug\"", "# --log"]);
    assert_holds(&line("max_tokens"), &["max_tokens = 6", "# UTTERD_MAX_TOKENS"]);
    assert_holds(&line("max_batch"), &["max_batch = 3", "# utterd.toml:1"]);
    assert_holds(&line("buffer_size"), &["buffer_size = 20", "# default"]);
    assert!(toml::from_str::<toml::Table>(&shown).is_ok(), "{shown}");
}

#[test]
fn a_models_key_is_never_shown() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("key"), "sk-in-file").expect("the file is written");
    let mut command = utterd(directory.path());
    command.args(["config", "--llm", "openai", "--llm-model", "m", "--llm-api-key-file", "key"]);
    command.args(["--embedding-base-url", "http://127.0.0.1:1", "--embedding-model", "m"]);
    command.env("UTTERD_LLM_API_KEY", "sk-ours").env("OPENAI_API_KEY", "sk-theirs");
    command.env("UTTERD_EMBEDDING_API_KEY", "sk-too");
    let shown = Outcome::of(&mut command).worked();
    assert_holds(&shown, &["llm_api_key_file = \"key\""]);
    assert!(!shown.contains("sk-"), "{shown}");
}

#[test]
fn a_server_whose_model_cannot_be_asked_does_not_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let serve = |flags: &[&str]| {
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--llm", "openai"]).args(flags);
        Outcome::of(command.env_remove("OPENAI_API_KEY"))
    };
    assert_holds(&serve(&[]).failed(2), &["llm_model is ``; accepted: the name of a model"]);
    assert_holds(&serve(&["--llm-model", "m"]).failed(1), &["there is no key", "OPENAI_API_KEY"]);
    let missing = ["--llm-model", "m", "--llm-api-key-file", "nowhere"];
    assert_holds(&serve(&missing).failed(1), &["llm_api_key_file nowhere: No such file"]);
}

#[test]
fn a_wrong_configuration_is_refused_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("utterd.toml"), "bufer_size = 3\n").expect("the file is written");
    let mut command = utterd(directory.path());
    command.args(["serve", "--max-batch", "0"]).env("UTTERD_MAX_TOKENZ", "1");
    let error = Outcome::of(&mut command).failed(2);
    assert_holds(
        &error,
        &[
            "utterd.toml:1: there is no key `bufer_size`; the nearest is `buffer_size`",
            "there is no setting UTTERD_MAX_TOKENZ, so it is ignored; the nearest is UTTERD_MAX_TOKENS",
            "--max-batch: max_batch is `0`; accepted: a number from 1",
        ],
    );
}

/// A variable that is not a setting is only a warning, which suggests the setting that might be meant.
#[test]
fn an_unknown_variable_is_a_warning() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    let output = command.arg("config").env("UTTERD_MAX_TOKENZ", "1").output().expect("it runs");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_holds(&said, &["there is no setting UTTERD_MAX_TOKENZ", "the nearest is UTTERD_MAX_TOKENS"]);
}

#[test]
fn a_server_that_is_not_there_is_one_clear_line() {
    let directory = tempfile::tempdir().expect("a directory");
    // A port that was just free, with nobody listening.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.expect("a free port").to_string();
    let error = Outcome::of(utterd(directory.path()).args(["capacity", "--server", &address])).failed(4);
    assert_holds(&error, &["no server answers at", &address, "utterd serve"]);
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let server = Server::start(&["--preset", "session"]);
    let messages: String = (0..1_500)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"{n} {}\"}}\n", "and so on ".repeat(6)))
        .collect();
    server.file("long.jsonl", &messages);
    server.run(&["import", "long.jsonl"]).worked();
    let mut command = server.command(&["show", "long"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    stdout.read_line(&mut first).expect("a line");
    drop(stdout);
    let mut error = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut error).expect("stderr is read");
    assert!(child.wait().expect("it ends").success(), "{error}");
    assert_eq!((first.starts_with("long · "), error.as_str()), (true, ""));
}
