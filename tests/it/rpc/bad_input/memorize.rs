//! Utterances and batches that Memorize refuses, on a fresh server and on one that stores something.

use prost_types::Timestamp;
use tonic::Code;
use utterd::{
    config::Settings,
    proto::{GetCapacityInfoRequest, MemorizeRequest, NewUtterance, ToolCall},
};

use crate::support::session::{Reply, Session, assistant, calls, memorize, result, said, user};

/// Expects `utterance` to be refused; the fields are those of the utterance.
async fn refuse(utterance: NewUtterance, reason: &str, field: &str, says: &str) {
    refuse_request(memorize(vec![user("fine"), utterance]), reason, &format!("utterances[1].{field}"), says)
        .await;
}

/// Expects `request` to be refused by a fresh server and by one that stores something.
async fn refuse_request(request: MemorizeRequest, reason: &str, field: &str, says: &str) {
    let session = Session::new().await;
    for stored in [0, 2] {
        for number in 0..stored {
            session.say(vec![user(&format!("stored {number}"))]).await;
        }
        let listed = listed(&session, stored).await;
        let before = session.cursor();
        let refused = session.memory().memorize(request.clone()).await.refusal();
        let code = match reason {
            "NO_OPEN_CALL" => Code::FailedPrecondition,
            _ => Code::InvalidArgument,
        };
        refused.is(code, reason).blames(field).says(field).says(says);
        assert_eq!(session.cursor(), before, "nothing happened");
        assert_eq!(self::listed(&session, stored).await, listed, "nothing is stored");
    }
}

/// Everything stored, and the revision; `None` if there is no conversation.
async fn listed(session: &Session, stored: usize) -> Option<(String, i64)> {
    let capacity = session.memory().get_capacity_info(GetCapacityInfoRequest::default()).await;
    match stored {
        0 => {
            assert_eq!(capacity.reply().capacity.unwrap().revision, 0);
            None
        }
        _ => Some((format!("{:?}", session.stored().await), capacity.reply().capacity.unwrap().revision)),
    }
}

#[tokio::test]
async fn an_unknown_role() {
    for role in [0, 5, -1, i32::MAX] {
        let utterance = NewUtterance { role, ..user("hello") };
        refuse(utterance, "UNKNOWN_ROLE", "role", "accepted: ROLE_SYSTEM (1), ROLE_USER (2)").await;
    }
}

#[tokio::test]
async fn a_result_for_no_open_call() {
    refuse(result("call_9", "42"), "NO_OPEN_CALL", "tool_call_id", "no call is open").await;
    refuse(result("", "42"), "INVALID_FIELD", "tool_call_id", "needs the id of the call").await;
    let request = memorize(vec![calls(&["a", "b"]), result("a", "1"), result("a", "2")]);
    refuse_request(request, "NO_OPEN_CALL", "utterances[2].tool_call_id", "open calls are [\"b\"]").await;
    let request = memorize(vec![calls(&["a"]), user("never mind"), result("a", "1"), result("a", "2")]);
    refuse_request(request, "NO_OPEN_CALL", "utterances[3].tool_call_id", "answered late, by utterance")
        .await;
}

#[tokio::test]
async fn neither_content_nor_calls() {
    for utterance in [user(""), assistant(""), said(utterd::proto::Role::System, "")] {
        refuse(utterance, "EMPTY_UTTERANCE", "content", "needs content, tool_calls or extras_json").await;
    }
}

#[tokio::test]
async fn ids_that_are_none() {
    let (long, control) = ("x".repeat(257), "a\u{7}b".to_owned());
    for (id, says) in [
        (&long, "has 257 bytes; accepted: 1 to 256"),
        (&control, "control character; accepted: 1 to 256 bytes"),
    ] {
        let id = || id.clone();
        let base = || memorize(vec![user("fine")]);
        let conversation = MemorizeRequest { conversation_id: id(), ..base() };
        refuse_request(conversation, "INVALID_ID", "conversation_id", says).await;
        let recipient = MemorizeRequest { recipient_id: id(), ..base() };
        refuse_request(recipient, "INVALID_ID", "recipient_id", says).await;
        let request = MemorizeRequest { request_id: id(), ..base() };
        refuse_request(request, "INVALID_ID", "request_id", says).await;
        let utterance = NewUtterance { utterance_id: id(), ..user("hello") };
        refuse(utterance, "INVALID_ID", "utterance_id", says).await;
        refuse(calls(&["fine", &id()]), "INVALID_ID", "tool_calls[1].id", says).await;
        refuse(result(&id(), "42"), "INVALID_ID", "tool_call_id", says).await;
    }
    refuse(calls(&[""]), "INVALID_ID", "tool_calls[0].id", "has 0 bytes; accepted: 1 to 256").await;
}

#[tokio::test]
async fn names_that_are_none() {
    let (long, control) = ("x".repeat(257), "a\nb".to_owned());
    for (name, says) in [
        (&long, "has 257 bytes; accepted: 1 to 256"),
        (&control, "control character; accepted: 1 to 256 bytes"),
    ] {
        refuse(NewUtterance { name: name.clone(), ..user("hello") }, "INVALID_FIELD", "name", says).await;
        let call = ToolCall { id: "a".to_owned(), name: name.clone(), ..Default::default() };
        let utterance = NewUtterance { tool_calls: vec![call], ..assistant("") };
        refuse(utterance, "INVALID_FIELD", "tool_calls[0].name", says).await;
        let utterance = NewUtterance { tools_used: vec![name.clone()], ..assistant("done") };
        refuse(utterance, "INVALID_FIELD", "tools_used[0]", says).await;
    }
}

#[tokio::test]
async fn text_over_the_limit() {
    const MOST: &str = "16777217 bytes; accepted: at most 16777216";
    let long = "x".repeat((16 << 20) + 1);
    refuse(user(&long), "CONTENT_TOO_LARGE", "content", MOST).await;
    let call = ToolCall { id: "a".to_owned(), name: "f".to_owned(), arguments_json: long.clone() };
    let utterance = NewUtterance { tool_calls: vec![call], ..assistant("") };
    refuse(utterance, "CONTENT_TOO_LARGE", "content", MOST).await;
    let extras_json = format!("{{\"a\":\"{}\"}}", &long[..(16 << 20) - 9]);
    let utterance = NewUtterance { extras_json, ..user("xx") };
    refuse(utterance, "CONTENT_TOO_LARGE", "content", MOST).await;
}

#[tokio::test]
async fn a_turn_that_goes_back() {
    let session = Session::new().await;
    session.say(vec![NewUtterance { turn_number: Some(7), ..user("turn seven") }]).await;
    let before = session.cursor();
    let back = NewUtterance { turn_number: Some(6), ..assistant("turn six") };
    let refused = session.memory().memorize(memorize(vec![user("turn eight"), back])).await.refusal();
    refused
        .is(Code::FailedPrecondition, "TURN_GOES_BACK")
        .blames("utterances[1].turn_number")
        .says("is 6; accepted: 8, the conversation's last one, or more");
    assert_eq!(session.cursor(), before);
    assert_eq!(session.window().await.len(), 1);
}

#[tokio::test]
async fn numbers_out_of_range() {
    for turn in [0, -1, i32::MIN] {
        let utterance = NewUtterance { turn_number: Some(turn), ..user("hello") };
        refuse(utterance, "INVALID_FIELD", "turn_number", "accepted: 1 or more").await;
    }
    let utterance = NewUtterance { extras_token_count: -1, ..user("hello") };
    refuse(utterance, "INVALID_FIELD", "extras_token_count", "accepted: 0 or more").await;
    for (seconds, nanos) in [(i64::MIN, 0), (i64::MAX, 0), (0, -1), (0, 1_000_000_000), (253_402_300_800, 0)]
    {
        let utterance = NewUtterance { create_time: Some(Timestamp { seconds, nanos }), ..user("hello") };
        refuse(utterance, "INVALID_FIELD", "create_time", "between the years 1 and 9999").await;
    }
    let request = MemorizeRequest { expected_revision: Some(-1), ..memorize(vec![user("hello")]) };
    refuse_request(request, "INVALID_FIELD", "expected_revision", "is -1; accepted: 0 or more").await;
}

#[tokio::test]
async fn fields_of_another_role() {
    let with_calls = NewUtterance { tool_calls: calls(&["a"]).tool_calls, ..user("hello") };
    refuse(with_calls, "INVALID_FIELD", "tool_calls", "only with the role assistant, not with user").await;
    let with_tools = NewUtterance { tools_used: vec!["find".to_owned()], ..user("hello") };
    refuse(with_tools, "INVALID_FIELD", "tools_used", "only with the role assistant").await;
    let waiting = NewUtterance { awaits_answer: true, ..user("hello") };
    refuse(waiting, "INVALID_FIELD", "awaits_answer", "only with the role assistant").await;
    let answering = NewUtterance { tool_call_id: "a".to_owned(), ..assistant("hello") };
    refuse(answering, "INVALID_FIELD", "tool_call_id", "only with the role tool").await;
}

#[tokio::test]
async fn notes_beyond_their_limits() {
    let noted = |entries: Vec<(String, String)>| NewUtterance {
        metadata: entries.into_iter().collect(),
        ..user("hello")
    };
    let many = (0..65).map(|number| (format!("key {number}"), String::new())).collect();
    refuse(noted(many), "INVALID_FIELD", "metadata", "has 65 entries; accepted: at most 64").await;
    let key = noted(vec![("k".repeat(129), String::new())]);
    refuse(key, "INVALID_FIELD", "metadata", "has 129 bytes; accepted: 1 to 128").await;
    let empty = noted(vec![(String::new(), String::new())]);
    refuse(empty, "INVALID_FIELD", "metadata", "has 0 bytes; accepted: 1 to 128").await;
    let value = noted(vec![("k".to_owned(), "v".repeat(4_097))]);
    refuse(value, "INVALID_FIELD", "metadata[\"k\"]", "has 4097 bytes; accepted: at most 4096").await;
    let tools = NewUtterance { tools_used: vec!["t".to_owned(); 257], ..assistant("done") };
    refuse(tools, "INVALID_FIELD", "tools_used", "has 257 entries; accepted: at most 256").await;
    for json in ["[1]", "{", "null", "{} {}"] {
        let utterance = NewUtterance { extras_json: json.to_owned(), ..user("hello") };
        refuse(utterance, "INVALID_FIELD", "extras_json", "JSON object").await;
    }
}

#[tokio::test]
async fn batches_that_are_none() {
    refuse_request(memorize(Vec::new()), "EMPTY_BATCH", "utterances", "accepted: 1 to 1000").await;
    let large = memorize(vec![user("again"); 1_001]);
    refuse_request(large, "BATCH_TOO_LARGE", "utterances", "has 1001 entries; accepted: at most 1000").await;
}

#[tokio::test]
async fn the_limits_are_the_servers() {
    let settings = Settings { max_batch: 2, max_content_bytes: 10, ..Settings::default() };
    let session = Session::with(&settings).await;
    let refused = session.memory().memorize(memorize(vec![user("hello"); 3])).await.refusal();
    refused.is(Code::InvalidArgument, "BATCH_TOO_LARGE").says("at most 2");
    let refused = session.memory().memorize(memorize(vec![user("hello world")])).await.refusal();
    refused.is(Code::InvalidArgument, "CONTENT_TOO_LARGE").says("have 11 bytes").limits_to(10);
    session.say(vec![user("hello"), user("0123456789")]).await;
}
