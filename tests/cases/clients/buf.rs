//! `buf curl`, which learns the messages by reflection.

use std::{
    io::BufReader,
    process::{Command, Output, Stdio},
};

use base64::Engine as _;
use prost::Message;
use serde_json::{Deserializer, Value, json};
use tonic::Code;
use tonic_types::pb::{BadRequest, ErrorInfo};

use crate::clients::{Checked, Client, server::Server, session};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "buf",
    probe: &["buf", "--version"],
    install: "pip install buf-bin",
    optional: false,
    checks: &[
        ("memorize_and_capacity", memorize_and_capacity),
        ("forget", forget),
        ("errors_have_details", errors_have_details),
        ("a_stream_follows_its_conversation", a_stream_follows_its_conversation),
        ("every_method_is_reflected", every_method_is_reflected),
        ("the_documented_session", the_documented_session),
    ],
};

fn command(server: &Server, arguments: &[&str], path: &str) -> Command {
    let mut command = Command::new("buf");
    command.args(["curl", "--protocol", "grpc", "--http2-prior-knowledge"]).args(arguments);
    command.arg(format!("http://{}{path}", server.address));
    // Outside any buf module, it asks the server.
    command.current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command
}

fn run(server: &Server, method: &str, request: &str) -> Output {
    let path = format!("/{method}");
    command(server, &["--data", request], &path).output().expect("buf runs")
}

/// The response of a call that must succeed.
fn call(server: &Server, method: &str, request: &Value) -> Value {
    let output = run(server, &format!("utterd.v1.{method}"), &request.to_string());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{method}: {text}");
    serde_json::from_slice(&output.stdout).expect("a response is JSON")
}

fn memorize_and_capacity(server: &Server) -> Checked {
    let said = json!([{"role": "ROLE_USER", "content": "What's the weather?"}]);
    let request = json!({"conversationId": "buf-1", "utterances": said});
    let response = call(server, "MemoryService/Memorize", &request);
    assert_eq!(response["memorized"][0]["sequence"], "1");
    assert_eq!(response["memorized"][0]["position"], 1);
    assert_eq!(response["startedConversation"], true);
    let response = call(server, "MemoryService/GetCapacityInfo", &json!({"conversationId": "buf-1"}));
    let capacity = &response["capacity"];
    assert_eq!((&capacity["utteranceCount"], &capacity["tokenCount"]), (&json!(1), &json!(8)));
    // A plain zero is visible: a counter has explicit presence.
    assert_eq!((&capacity["softDeletedCount"], &capacity["overLimit"]), (&json!(0), &json!(false)));
    Ok(())
}

fn forget(server: &Server) -> Checked {
    let said = json!([{"role": "ROLE_USER", "content": "one"}, {"role": "ROLE_ASSISTANT", "content": "two"}]);
    call(server, "MemoryService/Memorize", &json!({"conversationId": "buf-2", "utterances": said}));
    let request =
        json!({"conversationId": "buf-2", "instructions": "what the user said", "mode": "FORGET_MODE_HARD"});
    let response = call(server, "MemoryService/Forget", &request);
    assert_eq!(response["understoodAs"], "speaker:user");
    assert_eq!(response["forgotten"][0]["sequence"], "1");
    assert_eq!(response["capacity"]["utteranceCount"], 1);
    Ok(())
}

fn errors_have_details(server: &Server) -> Checked {
    let request = json!({"utterances": [{"role": "ROLE_TOOL", "content": "42", "toolCallId": "c9"}]});
    let output = run(server, "utterd.v1.MemoryService/Memorize", &request.to_string());
    // Its exit code is eight times the gRPC code.
    assert_eq!(output.status.code(), Some(8 * Code::FailedPrecondition as i32));
    let error: Value = serde_json::from_slice(&output.stderr).expect("an error is JSON");
    assert_eq!(error["code"], "failed_precondition");
    let info: ErrorInfo = detail(&error, "google.rpc.ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), ("NO_OPEN_CALL", "utterd"));
    let bad: BadRequest = detail(&error, "google.rpc.BadRequest");
    assert_eq!(bad.field_violations[0].field, "utterances[0].tool_call_id");
    let missing = run(server, "utterd.v1.MemoryService/GetCapacityInfo", r#"{"conversationId":"nowhere"}"#);
    assert_eq!(missing.status.code(), Some(8 * Code::NotFound as i32));
    Ok(())
}

/// The detail of a type, from buf's JSON of an error.
fn detail<M: Message + Default>(error: &Value, kind: &str) -> M {
    let details = error["details"].as_array().expect("there are details");
    let found = details.iter().find(|detail| detail["type"] == kind).expect("there is such a detail");
    let value = found["value"].as_str().expect("base64");
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(value).expect("base64");
    M::decode(&*bytes).expect("the detail decodes")
}

/// It sends the current state and each change, and ends when the conversation is deleted.
fn a_stream_follows_its_conversation(server: &Server) -> Checked {
    let memorize = |content: &str| {
        let said = json!([{"role": "ROLE_USER", "content": content}]);
        call(server, "MemoryService/Memorize", &json!({"conversationId": "buf-3", "utterances": said}));
    };
    memorize("one");
    let request = json!({"conversationId": "buf-3"}).to_string();
    let watch = &["--data", &request];
    let mut child = command(server, watch, "/utterd.v1.MemoryService/WatchCapacity")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("buf runs");
    let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut seen = Deserializer::from_reader(stdout).into_iter::<Value>();
    let mut next = || seen.next().map(|value| value.expect("a message is JSON"));
    assert_eq!(next().expect("now")["capacity"]["utteranceCount"], 1);
    memorize("two");
    assert_eq!(next().expect("after the change")["capacity"]["utteranceCount"], 2);
    call(server, "ConversationService/DeleteConversation", &json!({"conversationId": "buf-3"}));
    assert_eq!(next(), None);
    let status = child.wait().expect("buf ends");
    assert_eq!(status.code(), Some(8 * Code::NotFound as i32));
    Ok(())
}

fn every_method_is_reflected(server: &Server) -> Checked {
    let output = command(server, &["--list-methods"], "").output().expect("buf runs");
    let methods = String::from_utf8_lossy(&output.stdout).into_owned();
    let services = [
        "MemoryService/Memorize",
        "ConversationService/GetSummary",
        "ContextService/CountTokens",
        "TraceService/WatchEvents",
    ];
    for method in services {
        assert!(methods.contains(&format!("utterd.v1.{method}\n")), "{method} is not in\n{methods}");
    }
    assert!(methods.contains("grpc.health.v1.Health/Check\n"), "{methods}");
    Ok(())
}

/// docs/api.md shows grpcurl; here the same requests must get the same responses.
fn the_documented_session(_: &Server) -> Checked {
    let fresh = Server::start();
    for call in session::calls() {
        let output = run(&fresh, call.method, call.request);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        call.assert_shown(&output.stdout);
    }
    Ok(())
}
