//! Named values of a conversation.

use std::collections::BTreeMap;

use futures::StreamExt;
use tonic::Code;
use utterd::proto::{
    ExportConversationRequest, ForkConversationRequest, GetStateRequest, MemorizeRequest, MemorizeResponse,
    MemorizeStreamRequest, StateChange, StateValue, UpdateStateRequest, UpdateStateResponse,
    export_conversation_response::Message, memorize_stream_response::Result as Outcome, state_value::Value,
};

use crate::support::session::{Reply, Session, result, user};

fn json(name: &str, text: &str) -> StateValue {
    StateValue { name: name.to_owned(), value: Some(Value::Json(text.to_owned())), version: 0 }
}

fn data(name: &str, bytes: &[u8]) -> StateValue {
    StateValue { name: name.to_owned(), value: Some(Value::Data(bytes.to_vec())), version: 0 }
}

fn setting(set: Vec<StateValue>) -> UpdateStateRequest {
    changing(StateChange { set, ..Default::default() })
}

fn changing(change: StateChange) -> UpdateStateRequest {
    UpdateStateRequest { change: Some(change), ..Default::default() }
}

fn versions(expected: &[(&str, i64)]) -> BTreeMap<String, i64> {
    expected.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
}

async fn update(session: &Session, request: UpdateStateRequest) -> UpdateStateResponse {
    session.conversations().update_state(request).await.reply()
}

async fn values(session: &Session, names: &[&str]) -> Vec<StateValue> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let request = GetStateRequest { names, ..Default::default() };
    session.conversations().get_state(request).await.reply().values
}

/// Values that are not named stay; each value has the revision that wrote it.
#[tokio::test]
async fn an_update_merges_by_name() {
    let session = Session::new().await;
    assert_eq!(values(&session, &[]).await, [], "a recipient without a conversation has none");
    session.say(vec![user("hello")]).await;
    let first = update(&session, setting(vec![json("step", "1"), data("blob", &[0, 255])])).await;
    session.say(vec![user("go on")]).await;
    let delete = vec!["blob".to_owned(), "missing".to_owned()];
    let set = vec![json("plan", "{\"a\": [1]}")];
    let second = update(&session, changing(StateChange { set, delete, ..Default::default() })).await;
    assert_eq!((first.revision, second.revision), (2, 4));
    let expected = [
        StateValue { version: 4, ..json("plan", "{\"a\": [1]}") },
        StateValue { version: 2, ..json("step", "1") },
    ];
    assert_eq!(values(&session, &[]).await, expected);
    assert_eq!(values(&session, &["step", "missing"]).await, expected[1..]);
}

/// Each name at another version is reported, and nothing is changed.
#[tokio::test]
async fn versions_are_compared_by_name() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let expected_versions = versions(&[("a", 0), ("b", 0)]);
    let expecting =
        |set, expected_versions| changing(StateChange { set, expected_versions, ..Default::default() });
    let request = expecting(vec![json("a", "1"), json("b", "1")], expected_versions);
    update(&session, request.clone()).await;
    let refused = session.conversations().update_state(request).await.refusal();
    refused
        .is(Code::Aborted, "STALE_STATE")
        .says("the state value \"a\" is at version 2, not at the expected 0");
    let expected_versions = versions(&[("a", 2), ("b", 1), ("c", 0)]);
    let stale = expecting(vec![json("a", "2")], expected_versions);
    let refused = session.conversations().update_state(stale).await.refusal();
    refused.is(Code::Aborted, "STALE_STATE").blames("change.expected_versions[\"b\"]");
    assert_eq!(values(&session, &["a"]).await[0].version, 2);
    let expected_versions = versions(&[("a", 2)]);
    let fresh = expecting(vec![json("a", "2")], expected_versions);
    assert_eq!(update(&session, fresh).await.revision, 3);
}

/// A repeated call changes nothing twice.
#[tokio::test]
async fn a_retry_replays() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let request = UpdateStateRequest { request_id: "once".to_owned(), ..setting(vec![json("a", "1")]) };
    let first = update(&session, request.clone()).await;
    let again = update(&session, request.clone()).await;
    assert_eq!(again, UpdateStateResponse { replayed: true, ..first });
    let other = UpdateStateRequest { change: setting(vec![json("a", "2")]).change, ..request };
    let refused = session.conversations().update_state(other).await.refusal();
    refused.is(Code::FailedPrecondition, "REQUEST_ID_REUSED");
}

/// A provider's format has no place for values: an export reports them as lost, but only if there are any.
#[tokio::test]
async fn an_export_names_it_as_lost() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let is_lost = async |format: i32| {
        let request = ExportConversationRequest { format, ..Default::default() };
        let responses = session.conversations().export_conversation(request).await.reply();
        let messages: Vec<_> = responses.map(|response| response.unwrap().message.unwrap()).collect().await;
        let Some(Message::End(end)) = messages.last() else { panic!("no end: {messages:?}") };
        end.losses.iter().any(|loss| loss.field == "state")
    };
    assert!(!is_lost(1).await);
    update(&session, setting(vec![json("a", "1")])).await;
    assert_eq!([is_lost(1).await, is_lost(2).await, is_lost(3).await], [true; 3]);
    assert!(!is_lost(4).await, "persisted conversations carry it");
}

/// A fork has its parent's values as of its creation.
#[tokio::test]
async fn a_fork_takes_them_over() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    update(&session, setting(vec![json("a", "1")])).await;
    let fork = session.conversations().fork_conversation(ForkConversationRequest::default()).await.reply();
    update(&session, setting(vec![json("a", "2")])).await;
    let conversation_id = fork.conversation.unwrap().conversation_id;
    let request = GetStateRequest { conversation_id, ..Default::default() };
    let kept = session.conversations().get_state(request).await.reply().values;
    assert_eq!(kept, [StateValue { version: 1, ..json("a", "1") }]);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused() {
    let session = Session::new().await;
    let missing = session.conversations().update_state(setting(vec![json("a", "1")])).await.refusal();
    missing.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    session.say(vec![user("hello")]).await;
    let most: Vec<_> = (0..256).map(|number| data(&format!("n{number:03}"), &[7; 4_091])).collect();
    update(&session, setting(most)).await;
    let no_value = StateValue { value: None, ..json("a", "") };
    for (set, field, says) in [
        (vec![], "set", "is empty"),
        (vec![json("", "1")], "set", "0 bytes; accepted: 1 to 256"),
        (vec![json(&"n".repeat(257), "1")], "set", "257 bytes"),
        (vec![json("a", "{")], "set[0].json", "is not JSON"),
        (vec![no_value], "set[0].value", "is missing"),
        (vec![json("a", "1"), json("a", "2")], "set", "twice"),
        (vec![json("a", "1")], "set", "257 names; accepted: at most 256"),
        (vec![data("n000", &[7; 5_000])], "set", "bytes; accepted: at most 1048576"),
    ] {
        let refused = session.conversations().update_state(setting(set)).await.refusal();
        let field = format!("change.{field}");
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(&field).says(says);
    }
    assert_eq!(values(&session, &[]).await.len(), 256);
}

fn saying(text: &str, state: StateChange) -> MemorizeRequest {
    MemorizeRequest { utterances: vec![user(text)], state: Some(state), ..Default::default() }
}

fn change(set: Vec<StateValue>) -> StateChange {
    StateChange { set, ..Default::default() }
}

async fn say(session: &Session, request: MemorizeRequest) -> MemorizeResponse {
    session.memory().memorize(request).await.reply()
}

async fn contents(session: &Session) -> Vec<String> {
    session.stored().await.into_iter().map(|utterance| utterance.content).collect()
}

/// Utterances and state change are one revision, even if the conversation starts with it.
#[tokio::test]
async fn a_memorize_changes_it_in_the_same_commit() {
    let session = Session::new().await;
    let first =
        say(&session, saying("hello", change(vec![json("step", "1"), data("blob", &[0, 255])]))).await;
    assert!(first.started_conversation);
    let wanted = [
        StateValue { version: 1, ..data("blob", &[0, 255]) },
        StateValue { version: 1, ..json("step", "1") },
    ];
    assert_eq!(values(&session, &[]).await, wanted);
    let state = StateChange {
        delete: vec!["blob".to_owned()],
        expected_versions: versions(&[("step", 1), ("plan", 0)]),
        ..change(vec![json("plan", "[]")])
    };
    let second = say(&session, saying("go on", state)).await;
    assert_eq!(second.revision, 2);
    let wanted =
        [StateValue { version: 2, ..json("plan", "[]") }, StateValue { version: 1, ..json("step", "1") }];
    assert_eq!(values(&session, &[]).await, wanted);
    let replaced =
        MemorizeRequest { replace_after: Some(1), ..saying("else", change(vec![json("plan", "[1]")])) };
    let third = say(&session, replaced).await;
    assert_eq!(
        values(&session, &["plan"]).await,
        [StateValue { version: third.revision, ..json("plan", "[1]") }]
    );
    assert_eq!(contents(&session).await, ["hello", "else"]);
}

/// A refused request stores neither the utterances nor the values, whichever of them is refused.
#[tokio::test]
async fn a_memorize_and_its_change_are_refused_together() {
    let session = Session::new().await;
    let unborn = StateChange { expected_versions: versions(&[("a", 3)]), ..change(vec![json("a", "1")]) };
    let refused = session.memory().memorize(saying("hello", unborn)).await.refusal();
    refused.is(Code::Aborted, "STALE_STATE").blames("state.expected_versions[\"a\"]");
    assert_eq!(contents(&session).await, Vec::<String>::new(), "no conversation has started");
    say(&session, saying("hello", change(vec![json("a", "1")]))).await;
    let stale = StateChange { expected_versions: versions(&[("a", 0)]), ..change(vec![json("b", "1")]) };
    let refused = session.memory().memorize(saying("lost", stale)).await.refusal();
    refused
        .is(Code::Aborted, "STALE_STATE")
        .says("the state value \"a\" is at version 1, not at the expected 0");
    let many: Vec<_> = (0..256).map(|number| json(&format!("n{number}"), "1")).collect();
    for (set, field, says) in [
        (vec![], "state.set", "is empty"),
        (vec![json("", "1")], "state.set", "0 bytes; accepted: 1 to 256"),
        (vec![json("b", "{")], "state.set[0].json", "is not JSON"),
        (many, "state.set", "257 names; accepted: at most 256"),
    ] {
        let refused = session.memory().memorize(saying("lost", change(set))).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(field).says(says);
    }
    let orphan = MemorizeRequest {
        utterances: vec![result("none", "42")],
        ..saying("", change(vec![json("b", "1")]))
    };
    session.memory().memorize(orphan).await.refusal().is(Code::FailedPrecondition, "NO_OPEN_CALL");
    assert_eq!(contents(&session).await, ["hello"]);
    assert_eq!(values(&session, &[]).await, [StateValue { version: 1, ..json("a", "1") }]);
}

/// A repeated call says and changes nothing twice, and one with another change is another call.
#[tokio::test]
async fn a_repeated_memorize_changes_it_once() {
    let session = Session::new().await;
    let request =
        MemorizeRequest { request_id: "once".to_owned(), ..saying("hello", change(vec![json("a", "1")])) };
    let first = say(&session, request.clone()).await;
    update(&session, setting(vec![json("a", "2")])).await;
    let again = say(&session, request.clone()).await;
    assert_eq!((again.replayed, again.revision), (true, first.revision));
    assert_eq!(values(&session, &[]).await, [StateValue { version: 2, ..json("a", "2") }]);
    let other = MemorizeRequest { state: Some(change(vec![json("a", "3")])), ..request };
    session.memory().memorize(other).await.refusal().is(Code::FailedPrecondition, "REQUEST_ID_REUSED");
}

/// In a stream, each request has its own change, and a refused one does not block the next.
#[tokio::test]
async fn a_stream_changes_it_with_each_request() {
    let session = Session::new().await;
    let stale = StateChange { expected_versions: versions(&[("a", 7)]), ..change(vec![json("a", "0")]) };
    let requests = [
        saying("one", change(vec![json("a", "1")])),
        saying("lost", stale),
        saying("two", change(vec![json("b", "2")])),
    ];
    let requests =
        requests.map(|memorize| MemorizeStreamRequest { memorize: Some(memorize), ..Default::default() });
    let responses = session.memory().memorize_stream(futures::stream::iter(requests)).await.reply();
    let results: Vec<_> = responses.map(|response| response.unwrap().result.unwrap()).collect().await;
    assert!(
        matches!(&results[1], Outcome::Error(error) if error.code == i32::from(Code::Aborted)),
        "{results:?}"
    );
    assert_eq!(contents(&session).await, ["one", "two"]);
    let wanted = [StateValue { version: 1, ..json("a", "1") }, StateValue { version: 2, ..json("b", "2") }];
    assert_eq!(values(&session, &[]).await, wanted);
}
