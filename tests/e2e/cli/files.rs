//! `utterd import` and `utterd export`.

use std::fs;

use serde_json::Value;

use super::{IRREGULAR, Outcome, Server, assert_holds, utterd};

const PERSISTED: &str = r#"{"conversations":[{"id":"conv-9","startedAt":"2026-01-01T10:00:00.000Z",
"endedAt":"2026-01-01T11:00:00.000Z","title":"A note","summary":"A note was made.","messages":[
{"id":"m1","timestamp":"2026-01-01T10:00:00.000Z","role":"user","content":"Make a note"},
{"id":"m2","timestamp":"2026-01-01T10:00:05.000Z","role":"assistant","content":"Made.","toolsUsed":["write_file"]}]}]}"#;

const LEGACY: &str = r#"{"conversationData":{"recentConversations":[
{"id":"1","timestamp":"2024-03-01T10:00:00Z","userMessage":"make a note","assistantResponse":"made","toolsUsed":[]}],
"summaries":[{"startDate":"2024-01-01","endDate":"2024-02-01","summary":"They met.","conversationCount":3}],
"lastSummarized":"2024-02-01"}}"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn what_is_imported_is_exported_the_same() {
    let server = Server::shared();
    server.file("odd.json", &IRREGULAR.replace("\"a\"", "\"imported-odd\""));
    let checked = server.run(&["import", "--dry-run", "odd.json"]).worked();
    assert_holds(&checked, &["would import 1 conversation (1 new): 9 utterances, 2 irregular, in "]);
    assert_holds(&checked, &["imported-odd  9 utterances  Be brief.\n"]);
    let first = server.run(&["import", "odd.json"]);
    assert_holds(
        &first.stderr,
        &["odd.json imported-odd messages[1]: ", "odd.json imported-odd messages[7]: "],
    );
    assert_holds(&first.worked(), &["imported 1 conversation (1 new): 9 utterances, 2 irregular, in "]);
    let again = server.run(&["import", "odd.json"]).worked();
    assert_holds(&again, &["imported 1 conversation (0 new): 0 utterances, 9 already there, in "]);

    let exported = server.run(&["export", "imported-odd"]).worked();
    let file = fs::read_to_string(server.directory.path().join("odd.json")).expect("the file");
    assert_eq!(json(&exported), json(&file));
    let other = server.run(&["export", "imported-odd", "--format", "anthropic", "-o", "odd.anthropic.json"]);
    assert_holds(&other.stderr, &["imported-odd 2: content: a result that answers no call"]);
    assert_holds(&other.worked(), &["exported 1 conversation, 9 utterances, to odd.anthropic.json: "]);
    let written = fs::read_to_string(server.directory.path().join("odd.anthropic.json")).expect("the export");
    assert!(json(&written)["messages"].is_array() || json(&written).is_array());

    let strict = server.run(&["import", "--strict", "--as", "strict-odd", "odd.json"]);
    assert_eq!(strict.code, Some(1));
    assert_holds(&strict.stderr, &["failed: odd.json: ", "[EMPTY_UTTERANCE]", "error: 1 file failed"]);
}

#[test]
fn an_unknown_role_is_the_users_only_when_asked() {
    let server = Server::shared();
    server.file("critic.json", r#"[{"role":"user","content":"hi"},{"role":"critic","content":"obey me"}]"#);
    let refused = server.run(&["import", "critic.json"]);
    assert_eq!(refused.code, Some(1));
    assert_holds(&refused.stderr, &["failed: critic.json: ", "[1].role: is \"critic\"", "[UNKNOWN_ROLE]"]);
    let lenient = server.run(&["import", "--lenient", "critic.json"]);
    assert_holds(
        &lenient.stderr,
        &["critic.json [1].role: the role \"critic\" is unknown: read as the user's"],
    );
    assert_holds(&lenient.worked(), &["imported 1 conversation (1 new): 2 utterances"]);
}

#[test]
fn a_history_is_migrated_before_the_server_listens_and_only_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("data.json");
    fs::write(&file, LEGACY).expect("the file is written");
    let flags = ["--backend", "fjall", "--data-dir", "data", "--migrate", "data.json"];
    let server = Server::start_in(directory, &flags);
    let shown = server.run(&["show", "migrated-default"]).worked();
    assert_holds(&shown, &["make a note", "made", "They met."]);
    let summary = server.run(&["call", "Summarize", r#"{"conversationId": "migrated-default"}"#]).worked();
    assert_holds(&summary, &["2024-01-01 to 2024-02-01: They met."]);
    let capacity = |server: &Server| server.run(&["capacity", "migrated-default"]).worked();
    server.run(&["forget", "--hard", "migrated-default", "all"]).worked();
    let before = capacity(&server);
    let again = Server::start_in(server.kill(), &flags);
    assert_eq!(capacity(&again), before);
    assert_eq!(fs::read_to_string(again.directory.path().join("data.json")).expect("the file"), LEGACY);

    let directory = again.kill();
    fs::write(directory.path().join("data.json"), "{\"conversationData\":{\"recentConversations\":3}}")
        .expect("the file is written");
    let bad = Outcome::of(utterd(directory.path()).args(["serve", "--listen", "127.0.0.1:0"]).args(flags));
    assert_eq!((bad.code, bad.stdout.as_str()), (Some(1), ""), "it never listened");
    assert_holds(
        &bad.stderr,
        &["cannot migrate data.json: ", "conversationData.recentConversations", "is a number"],
    );
}

/// An old history that never held anything is no conversation.
#[test]
fn an_empty_history_is_no_conversation() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("empty.json"), "[]").expect("the file is written");
    let server = Server::start_in(directory, &["--migrate", "empty.json"]);
    assert_eq!(server.run(&["list"]).stdout, "");
    let imported = server.run(&["import", "empty.json"]);
    assert_holds(&imported.stderr, &["empty.json", "holds nothing: nothing is stored"]);
    assert_holds(&imported.worked(), &["imported 0 conversations (0 new): 0 utterances"]);
    assert_eq!(server.run(&["list"]).stdout, "");
    for nothing in ["", "\n \n"] {
        server.file("nothing.jsonl", nothing);
        let outcome = server.run(&["import", "nothing.jsonl"]);
        assert_eq!(outcome.code, Some(1));
        assert_holds(&outcome.stderr, &["failed: nothing.jsonl: is empty\n", "error: 1 file failed"]);
    }
}

/// Without a name, the active conversation is exported, as every command means it.
#[test]
fn the_active_conversation_is_exported_unless_all_are() {
    let server = Server::shared();
    server.run(&["memorize", "-r", "carol", "--to", "carols-first", "one"]).worked();
    server.run(&["end", "carols-first"]).worked();
    server.run(&["memorize", "-r", "carol", "--to", "carols-second", "two"]).worked();
    let active = json(&server.run(&["export", "-r", "carol"]).worked());
    assert_eq!((active[0]["content"].as_str(), active.as_array().map(Vec::len)), (Some("two"), Some(1)));
    assert_eq!(server.run(&["export", "-r", "carol", "--all"]).worked().lines().count(), 2);
    server.run(&["export", "--all", "carols-first"]).failed(2);
    assert_holds(&server.run(&["export", "--format", "claude", "carols-first"]).failed(2), &["openai"]);
}

#[test]
fn a_recipients_conversations_travel_together() {
    let server = Server::shared();
    server.file("alice.json", PERSISTED);
    server.run(&["import", "-r", "alice", "alice.json"]).worked();
    let arguments = ["export", "--all", "-r", "alice", "--format", "persisted", "-o", "back.json", "--json"];
    let told = json(&server.run(&arguments).worked());
    assert_eq!((&told["conversationCount"], &told["utteranceCount"]), (&Value::from(1), &Value::from(2)));
    let back = fs::read_to_string(server.directory.path().join("back.json")).expect("the export");
    assert_eq!(json(&back), json(PERSISTED));

    let line = |id: &str| format!(r#"{{"id":"{id}","messages":[{{"role":"user","content":"hi"}}]}}"#);
    server.file("lines.jsonl", &format!("{}\n{}\n", line("l1"), line("l2")));
    let imported = server.run(&["import", "-r", "bob", "lines.jsonl", "missing.json"]);
    assert_eq!(imported.code, Some(1));
    assert_holds(&imported.stdout, &["imported 2 conversations (2 new): 2 utterances, in "]);
    assert_holds(&imported.stderr, &["failed: missing.json: "]);
    let lines = server.run(&["export", "--all", "--recipient", "bob"]).worked();
    assert_eq!(lines.lines().map(json).collect::<Vec<_>>(), [json(&line("l1")), json(&line("l2"))]);
}

#[test]
fn one_conversation_without_an_id_is_called_after_its_file() {
    let server = Server::shared();
    server.file("nameless.json", r#"[{"role":"user","content":"hi"}]"#);
    server.run(&["import", "nameless.json"]).worked();
    assert_holds(&server.run(&["show", "nameless"]).worked(), &["hi"]);
    server.file("nameless.json", r#"[{"role":"user","content":"other"}]"#);
    let other = server.run(&["import", "nameless.json"]);
    assert_holds(&other.stderr, &["nameless", "[CONVERSATION_EXISTS]"]);
    server.run(&["import", "--into-existing", "nameless.json"]).worked();
    let missing = server.run(&["export", "nowhere", "-o", "nowhere.json"]).failed(3);
    assert_holds(&missing, &["there is no conversation \"nowhere\""]);
    assert!(!server.directory.path().join("nowhere.json").exists());
    server.run(&["export", "nameless", "--json"]).failed(2);
}
