//! Named values of a recipient, independent of its conversations.

use std::collections::BTreeMap;

use futures::{StreamExt, future::join_all};
use tonic::Code;
use utterd::proto::{
    DeleteConversationRequest, DeleteRecipientRequest, EndConversationRequest, GetStateRequest,
    GetStateResponse, GetStatsRequest, ListConversationsRequest, MemorizeRequest, MemorizeStreamRequest,
    Operation, StateChange, StateScope, StateValue, StatsScope, UpdateStateRequest, UpdateStateResponse,
    WatchEventsRequest, memorize_stream_response::Result as Outcome, state_value::Value,
    watch_events_response::Message,
};

use crate::support::session::{Reply, Session, user};

fn json(name: &str, text: &str) -> StateValue {
    StateValue { name: name.to_owned(), value: Some(Value::Json(text.to_owned())), version: 0 }
}

fn at(version: i64, value: StateValue) -> StateValue {
    StateValue { version, ..value }
}

fn of(recipient: &str, set: Vec<StateValue>) -> UpdateStateRequest {
    changing(recipient, StateChange { set, ..Default::default() })
}

fn changing(recipient: &str, change: StateChange) -> UpdateStateRequest {
    let (recipient_id, scope) = (recipient.to_owned(), StateScope::Recipient.into());
    UpdateStateRequest { recipient_id, scope, change: Some(change), ..Default::default() }
}

fn versions(expected: &[(&str, i64)]) -> BTreeMap<String, i64> {
    expected.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
}

async fn update(session: &Session, request: UpdateStateRequest) -> UpdateStateResponse {
    session.conversations().update_state(request).await.reply()
}

async fn state(session: &Session, recipient: &str) -> GetStateResponse {
    let (recipient_id, scope) = (recipient.to_owned(), StateScope::Recipient.into());
    let request = GetStateRequest { recipient_id, scope, ..Default::default() };
    session.conversations().get_state(request).await.reply()
}

fn saying(conversation: &str, recipient: &str, set: Vec<StateValue>) -> MemorizeRequest {
    MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        utterances: vec![user("hello")],
        recipient_state: Some(StateChange { set, ..Default::default() }),
        ..Default::default()
    }
}

/// The ids of all conversations, of any recipient.
async fn listed(session: &Session) -> Vec<String> {
    let request = ListConversationsRequest { all_recipients: true, ..Default::default() };
    let page = session.conversations().list_conversations(request).await.reply();
    page.conversations.into_iter().map(|conversation| conversation.conversation_id).collect()
}

on_each_store! {
    it_outlives_conversations
    conversations_change_it_at_once
}

/// It needs no conversation, is not one, and outlives the recipient's conversations.
#[tokio::test]
async fn it_outlives_conversations() {
    let session = Session::new().await;
    assert_eq!(state(&session, "ann").await, GetStateResponse::default(), "nothing was set yet");
    let first = update(&session, of("ann", vec![json("plan", "[]"), json("step", "1")])).await;
    assert_eq!((first.revision, &*first.conversation_id), (1, ""));
    assert_eq!(listed(&session).await, [""; 0]);
    let set = vec![json("mine", "1")];
    session
        .memory()
        .memorize(MemorizeRequest { recipient_state: None, ..saying("a", "ann", vec![]) })
        .await
        .reply();
    let change = Some(StateChange { set, ..Default::default() });
    let own = UpdateStateRequest { conversation_id: "a".to_owned(), change, ..Default::default() };
    assert_eq!(update(&session, own).await.conversation_id, "a");
    let end = EndConversationRequest { conversation_id: "a".to_owned(), ..Default::default() };
    session.conversations().end_conversation(end).await.reply();
    let delete = DeleteConversationRequest { conversation_id: "a".to_owned(), ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    let delete = vec!["plan".to_owned(), "missing".to_owned()];
    let set = vec![json("more", "2")];
    update(&session, changing("ann", StateChange { set, delete, ..Default::default() })).await;
    let values = vec![at(2, json("more", "2")), at(1, json("step", "1"))];
    let expected = GetStateResponse { values, revision: 2, ..Default::default() };
    assert_eq!(state(&session, "ann").await, expected);
    assert_eq!(state(&session, "bob").await, GetStateResponse::default(), "another recipient has none");
    let request = GetStatsRequest {
        recipient_id: "ann".to_owned(),
        scope: StatsScope::Recipient.into(),
        ..Default::default()
    };
    let stats = session.conversations().get_stats(request).await.reply().stats.unwrap();
    assert_eq!(stats.conversations, []);
}

/// Versions, revisions and request ids are those of the recipient's state.
#[tokio::test]
async fn it_is_compared_and_set() {
    let session = Session::new().await;
    let none_yet = UpdateStateRequest { expected_revision: Some(0), ..of("ann", vec![json("a", "1")]) };
    update(&session, none_yet.clone()).await;
    let refused = session.conversations().update_state(none_yet).await.refusal();
    refused
        .is(Code::Aborted, "STALE_REVISION")
        .says("the recipient's state is at revision 1, not at the expected 0");
    let expected_versions = versions(&[("a", 0), ("b", 0)]);
    let set = vec![json("b", "1")];
    let stale = changing("ann", StateChange { set: set.clone(), expected_versions, ..Default::default() });
    let refused = session.conversations().update_state(stale).await.refusal();
    refused.is(Code::Aborted, "STALE_STATE").blames("change.expected_versions[\"a\"]");
    let expected_versions = versions(&[("a", 1), ("b", 0)]);
    let request = UpdateStateRequest {
        request_id: "once".to_owned(),
        ..changing("ann", StateChange { set, expected_versions, ..Default::default() })
    };
    let first = update(&session, request.clone()).await;
    assert_eq!(update(&session, request.clone()).await, UpdateStateResponse { replayed: true, ..first });
    let other = UpdateStateRequest { recipient_id: "bob".to_owned(), ..request };
    let refused = session.conversations().update_state(other).await.refusal();
    refused.is(Code::FailedPrecondition, "REQUEST_ID_REUSED");
    assert_eq!(state(&session, "ann").await.revision, 2);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let session = Session::new().await;
    let request = UpdateStateRequest { conversation_id: "a".to_owned(), ..of("ann", vec![json("a", "1")]) };
    let refused = session.conversations().update_state(request).await.refusal();
    refused
        .is(Code::InvalidArgument, "INVALID_FIELD")
        .blames("conversation_id")
        .says("the scope is RECIPIENT");
    let refused = session.conversations().get_state(GetStateRequest { scope: 7, ..Default::default() }).await;
    refused.refusal().is(Code::InvalidArgument, "INVALID_FIELD").blames("scope").says("is 7; accepted:");
    let named = UpdateStateRequest {
        conversation_id: "\u{1}ann".to_owned(),
        change: of("ann", vec![json("a", "1")]).change,
        ..Default::default()
    };
    let refused = session.conversations().update_state(named).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_ID").blames("conversation_id");
    let large = Value::Data(vec![7; (1 << 20) + 1]);
    let large = StateValue { value: Some(large), ..json("a", "") };
    let refused = session.conversations().update_state(of("ann", vec![large])).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("change.set").says("accepted: at most 1048576");
}

/// It is deleted with the recipient, and nobody else's is.
#[tokio::test]
async fn it_goes_with_the_recipient() {
    let session = Session::new().await;
    for recipient in ["ann", "bob"] {
        update(&session, of(recipient, vec![json("a", "1")])).await;
    }
    session.memory().memorize(saying("", "ann", vec![json("a", "2")])).await.reply();
    let delete = DeleteRecipientRequest { recipient_id: "ann".to_owned() };
    let deleted = session.conversations().delete_recipient(delete).await.reply();
    assert_eq!(deleted.conversation_count(), 1);
    assert_eq!(state(&session, "ann").await, GetStateResponse::default());
    assert_eq!(state(&session, "bob").await.values, [at(1, json("a", "1"))]);
    assert_eq!(update(&session, of("ann", vec![json("a", "3")])).await.revision, 1, "it starts anew");
}

/// Events name the recipient, and not the conversation, which nobody could address.
#[tokio::test]
async fn events_tell_the_recipient() {
    let session = Session::new().await;
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    events.message().await.unwrap().expect("it has started");
    update(&session, of("ann", vec![json("a", "1")])).await;
    state(&session, "ann").await;
    session.memory().memorize(saying("a", "ann", vec![json("a", "2")])).await.reply();
    let delete = DeleteRecipientRequest { recipient_id: "ann".to_owned() };
    session.conversations().delete_recipient(delete).await.reply();
    let mut seen: Vec<(Operation, String, Option<i64>, bool)> = Vec::new();
    while seen.last().is_none_or(|(operation, ..)| *operation != Operation::DeleteRecipient) {
        let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else { panic!() };
        assert_eq!(event.recipient_id, "ann");
        seen.push((event.operation(), event.conversation_id, event.revision, event.started_conversation));
    }
    let told = |operation, conversation: &str, revision, starts| {
        (operation, conversation.to_owned(), revision, starts)
    };
    let expected = [
        told(Operation::UpdateState, "", Some(1), false),
        told(Operation::GetState, "", None, false),
        told(Operation::Memorize, "a", Some(1), true),
        told(Operation::UpdateState, "", Some(2), false),
        told(Operation::DeleteConversation, "a", None, false),
        told(Operation::DeleteRecipient, "", None, false),
    ];
    assert_eq!(seen, expected);
}

/// Memorize changes it in the same commit: when the conversation starts, continues, is replaced or was idle.
#[tokio::test]
async fn it_changes_with_what_is_said() {
    let session = Session::new().await;
    let first = session.memory().memorize(saying("", "ann", vec![json("a", "1")])).await.reply();
    assert!(first.started_conversation);
    let change = StateChange {
        set: vec![json("b", "2")],
        delete: vec!["a".to_owned()],
        expected_versions: versions(&[("a", 1)]),
    };
    let both = MemorizeRequest {
        recipient_state: Some(change),
        state: Some(StateChange { set: vec![json("mine", "1")], ..Default::default() }),
        ..saying(&first.conversation_id, "", vec![])
    };
    session.memory().memorize(both).await.reply();
    assert_eq!(state(&session, "ann").await.values, [at(2, json("b", "2"))]);
    let replacing = MemorizeRequest { replace_after: Some(0), ..saying("", "ann", vec![json("c", "3")]) };
    session.memory().memorize(replacing).await.reply();
    assert_eq!(state(&session, "ann").await.values, [at(2, json("b", "2")), at(3, json("c", "3"))]);
    session.clock.advance(std::time::Duration::from_secs(30 * 24 * 3_600));
    let next = session.memory().memorize(saying("", "ann", vec![json("c", "4")])).await.reply();
    assert_eq!(next.ended_conversation_id, first.conversation_id);
    assert_eq!(state(&session, "ann").await.values, [at(2, json("b", "2")), at(4, json("c", "4"))]);
    let replacing = MemorizeRequest { replace_after: Some(0), ..saying("new", "bob", vec![json("c", "5")]) };
    session.memory().memorize(replacing).await.reply();
    assert_eq!(state(&session, "bob").await.values, [at(1, json("c", "5"))]);
}

/// A refused request stores neither, whichever is refused; and a repeated one does nothing twice.
#[tokio::test]
async fn it_is_refused_and_repeated_with_what_is_said() {
    let session = Session::new().await;
    let stale =
        StateChange { expected_versions: versions(&[("a", 1)]), set: vec![json("a", "1")], delete: vec![] };
    let stale = MemorizeRequest { recipient_state: Some(stale), ..saying("a", "ann", vec![]) };
    let refused = session.memory().memorize(stale).await.refusal();
    refused.is(Code::Aborted, "STALE_STATE").blames("recipient_state.expected_versions[\"a\"]");
    let refused = session.memory().memorize(saying("a", "ann", vec![])).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("recipient_state.set").says("is empty");
    let refused = session.memory().memorize(saying("a", "ann", vec![json("a", "{")])).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("recipient_state.set[0].json");
    assert_eq!(listed(&session).await, [""; 0], "no conversation has started");
    let other = MemorizeRequest { expected_revision: Some(7), ..saying("a", "ann", vec![json("a", "1")]) };
    session.memory().memorize(other).await.refusal().is(Code::Aborted, "STALE_REVISION");
    assert_eq!(state(&session, "ann").await, GetStateResponse::default());
    let request =
        MemorizeRequest { request_id: "once".to_owned(), ..saying("a", "ann", vec![json("a", "1")]) };
    let replayed = [false, true].map(async |replayed| {
        let response = session.memory().memorize(request.clone()).await.reply();
        assert_eq!((response.replayed, response.revision), (replayed, 1));
    });
    for call in replayed {
        call.await;
    }
    assert_eq!(state(&session, "ann").await.revision, 1);
}

/// Each request of a stream has its own change, and a refused one does not block the next.
#[tokio::test]
async fn a_stream_changes_it_with_each_request() {
    let session = Session::new().await;
    let stale =
        StateChange { expected_versions: versions(&[("a", 7)]), set: vec![json("a", "0")], delete: vec![] };
    let requests = [
        saying("", "ann", vec![json("a", "1")]),
        MemorizeRequest { recipient_state: Some(stale), ..saying("", "ann", vec![]) },
        saying("", "ann", vec![json("b", "2")]),
        saying("other", "ann", vec![json("c", "3")]),
    ];
    let requests =
        requests.map(|memorize| MemorizeStreamRequest { memorize: Some(memorize), ..Default::default() });
    let responses = session.memory().memorize_stream(futures::stream::iter(requests)).await.reply();
    let results: Vec<_> = responses.map(|response| response.unwrap().result.unwrap()).collect().await;
    let failed: Vec<_> = results.iter().map(|result| matches!(result, Outcome::Error(_))).collect();
    assert_eq!(failed, [false, true, false, false]);
    let expected = [at(1, json("a", "1")), at(2, json("b", "2")), at(3, json("c", "3"))];
    assert_eq!(state(&session, "ann").await.values, expected);
}

/// Concurrent writes to many conversations of one recipient, and to only its state: each change takes effect
/// once.
#[tokio::test]
async fn conversations_change_it_at_once() {
    let session = Session::new().await;
    let calls = (0..60).map(async |number: i32| {
        let set = vec![json(&format!("n{number:02}"), "1")];
        match number % 6 {
            0 => drop(update(&session, of("ann", set)).await),
            1 => {
                let request = MemorizeRequest { replace_after: Some(0), ..saying("replaced", "ann", set) };
                session.memory().memorize(request).await.reply();
            }
            conversation => {
                let request = saying(&format!("c{conversation}"), "ann", set);
                session.memory().memorize(request).await.reply();
            }
        }
    });
    join_all(calls).await;
    let state = state(&session, "ann").await;
    assert_eq!((state.values.len(), state.revision), (60, 60));
    let versions: std::collections::BTreeSet<_> = state.values.iter().map(|value| value.version).collect();
    assert_eq!(versions.len(), 60);
    assert_eq!(listed(&session).await.len(), 5);
}
