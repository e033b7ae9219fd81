//! `utterd call`: every method, with JSON in and JSON out.

use std::{fs::File, process::Command};

use serde_json::{Value, json};

use super::{Outcome, Server, assert_holds, line_with, utterd};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The response to a call.
#[track_caller]
fn call(server: &Server, method: &str, request: &Value) -> Value {
    parsed(&server.run(&["call", method, &request.to_string()]).worked())
}

/// A call with `input` on stdin.
fn fed(server: &Server, arguments: &[&str], input: &str) -> Outcome {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), input).expect("the file is written");
    Outcome::of(server.command(arguments).stdin(File::open(file.path()).expect("just written")))
}

#[test]
fn a_conversation_is_created_limited_and_renamed() {
    let server = Server::shared();
    let id = "called";
    let policy = json!({"preset": "POLICY_PRESET_SESSION"});
    let created = json!({"conversationId": id, "recipientId": "caller", "title": "A plan", "policy": policy});
    assert_eq!(call(&server, "CreateConversation", &created)["conversation"]["active"], true);
    let taken = server.run(&["call", "CreateConversation", &created.to_string()]).failed(1);
    assert_holds(&taken, &["[CONVERSATION_EXISTS]", "choose another id"]);
    let update = json!({
        "conversation_id": id, "title": "A better plan", "policy": {"maxTurns": 5}, "update_mask": "title,policy"
    });
    let updated = call(&server, "UpdateConversation", &update);
    assert_eq!(updated["conversation"]["title"], "A better plan");
    assert_eq!(updated["conversation"]["policy"]["maxTurns"], 5);
    let wrong =
        json!({"conversationId": id, "policy": {"maxTokens": 9, "keepTokens": 10}, "updateMask": "policy"});
    let refused = server.run(&["call", "UpdateConversation", &wrong.to_string()]).failed(1);
    assert_holds(&refused, &["policy.keep_tokens: is 10", "[INVALID_FIELD]"]);
}

#[test]
fn an_utterance_is_pinned_and_edited_by_its_id() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "fixed", "three"]).worked();
    let listed = call(&server, "ListUtterances", &json!({"conversationId": "fixed", "last": 1}));
    let id = &listed["utterances"][0]["utteranceId"];
    let update = |more: Value| {
        let mut request = json!({"conversationId": "fixed", "utteranceId": id});
        request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        call(&server, "UpdateUtterance", &request)
    };
    assert_eq!(update(json!({"pinned": true, "updateMask": "pinned"}))["utterance"]["pinned"], true);
    update(json!({"content": "thirty", "updateMask": "content"}));
    assert_holds(&server.run(&["show", "fixed"]).worked(), &["1* ", "thirty"]);
    let forked = update(json!({"content": "drei", "updateMask": "content", "editMode": "EDIT_MODE_FORK"}));
    assert!(forked["forkedConversationId"].is_string(), "{forked}");
}

#[test]
fn a_request_comes_from_the_argument_or_stdin_or_is_empty() {
    let server = Server::shared();
    let texts = json!({"texts": ["The train leaves at nine.", "one"]}).to_string();
    let counted = json!([6, 1]);
    for method in ["CountTokens", "counttokens"] {
        assert_eq!(parsed(&server.run(&["call", method, &texts]).worked())["tokenCounts"], counted);
    }
    assert_eq!(parsed(&fed(&server, &["call", "CountTokens", "-"], &texts).worked())["tokenCounts"], counted);
    assert!(parsed(&server.run(&["call", "GetCapacityInfo"]).worked())["capacity"].is_object());
    let found = json!({"conversationId": "none-such", "minRelevance": 0.50, "prompt": "x"});
    assert_holds(
        &server.run(&["call", "Remember", &found.to_string()]).failed(3),
        &["[CONVERSATION_NOT_FOUND]"],
    );
}

#[test]
fn what_no_method_takes_is_refused_with_what_it_takes() {
    let server = Server::shared();
    let run = |arguments: &[&str]| server.run(&[&["call"], arguments].concat()).failed(2);
    assert_holds(
        &run(&["UpdateUterance", "{}"]),
        &["invalid value 'UpdateUterance'", "a similar value exists: 'UpdateUtterance'"],
    );
    assert_holds(
        &run(&["CountTokens", r#"{"text": ["x"]}"#]),
        &["error: JSON: text: is no field of CountTokensRequest; accepted: texts, "],
    );
    assert_holds(&run(&["CountTokens", r#"{"texts": "x"}"#]), &["JSON: texts: invalid type: string"]);
    assert_holds(&run(&["CountTokens", "texts"]), &["JSON: not JSON: "]);
    assert_holds(&run(&[]), &["<METHOD>"]);
    let error = parsed(&run(&["CountTokens", r#"{"text": []}"#, "--json"]));
    assert_eq!(error["error"]["exit_code"], 2);
    let state = json!({"conversationId": "stateful", "change": {"set": [{"name": "diet", "json": "vegan"}]}});
    server.run(&["memorize", "--to", "stateful", "hello"]).worked();
    let refused = server.run(&["call", "UpdateState", &state.to_string()]).failed(1);
    assert_holds(&refused, &["change.set[0].json"]);
}

#[test]
fn methods_are_listed_described_and_completed() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |arguments: &[&str]| Outcome::of(utterd(directory.path()).args(arguments)).worked();
    let listed = run(&["call", "--list"]);
    assert_holds(&listed, &["ConversationService\n", "\n  GetStats ", "  Memorize "]);
    assert_holds(
        &run(&["call", "--list", "updateutterance"]),
        &["UpdateUtteranceRequest:\n", "  utteranceId ", "EDIT_MODE_FORK", "utterd call UpdateUtterance '{"],
    );
    assert_holds(&run(&["call", "--help"]), &["--list", "--token-file"]);
    assert_holds(&run(&["completions", "bash"]), &["UpdateUtterance"]);
}

#[test]
fn responses_of_a_stream_are_printed_one_a_line() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "streamed", "one"]).worked();
    let request = r#"{"conversationId": "streamed"}"#;
    let exported = server.run(&["call", "ExportConversation", request]).worked();
    let responses: Vec<Value> = exported.lines().map(parsed).collect();
    assert!(responses.len() > 1, "{exported}");
    let mut watch: Command = server.command(&["call", "WatchCapacity", request]);
    let mut child = watch.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("stdout is piped"));
    let _watch = super::Process(child);
    line_with(&mut stdout, "\"utteranceCount\":1");
    server.run(&["memorize", "--to", "streamed", "two"]).worked();
    line_with(&mut stdout, "\"utteranceCount\":2");
}

#[test]
fn requests_of_a_stream_are_read_one_a_line() {
    let server = Server::shared();
    let say = |text: &str| {
        let utterances = json!([{"role": "ROLE_USER", "content": text}]);
        json!({"memorize": {"conversationId": "read", "utterances": utterances}}).to_string()
    };
    let lines = format!("{}\n\n{}\n", say("one"), say("two"));
    let answered = fed(&server, &["call", "MemorizeStream"], &lines).worked();
    assert_eq!(answered.lines().count(), 2, "{answered}");
    assert_holds(&server.run(&["show", "read"]).worked(), &["one", "two"]);
    // `[{"role":"user","content":"hi"}]`
    let [header, chunk] = [
        json!({"header": {"conversationId": "imported-by-call"}}),
        json!({"chunk": "W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiaGkifV0="}),
    ];
    let broken =
        fed(&server, &["call", "ImportConversation", "-"], &format!("{header}\n{chunk}\n{{\"x\":1}}\n"));
    assert_holds(&broken.failed(2), &["line 3 of stdin: x: is no field of ImportConversationRequest"]);
    server.run(&["show", "imported-by-call"]).failed(3);
    let imported = fed(&server, &["call", "ImportConversation"], &format!("{header}\n{chunk}\n")).worked();
    assert_eq!(parsed(&imported)["conversations"][0]["utteranceCount"], 1);
}

#[test]
fn a_token_is_made_read_and_revoked() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "lent", "The train leaves at nine."]).worked();
    let made = call(&server, "ShareConversation", &json!({"conversationId": "lent", "ttl": "3600s"}));
    let read = json!({"token": made["token"]});
    assert_eq!(call(&server, "ReadShared", &read)["utterances"][0]["content"], "The train leaves at nine.");
    call(&server, "RevokeShare", &json!({"conversationId": "lent", "shareId": made["share"]["shareId"]}));
    let refused = server.run(&["call", "ReadShared", &read.to_string()]).failed(1);
    assert_holds(&refused, &["is not valid", "SHARE_NOT_VALID"]);
}
