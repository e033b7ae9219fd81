//! Every call has an id, and is counted.

use tonic::metadata::MetadataMap;

use crate::{rpc::transport::send, support::prelude::*};

fn id(metadata: &MetadataMap) -> String {
    metadata.get("x-request-id").expect("an id").to_str().expect("it is text").to_owned()
}

async fn answered(session: &Session, id: Option<&str>) -> MetadataMap {
    let mut request = Request::new(memorize(vec![user("hello")]));
    if let Some(id) = id {
        request.metadata_mut().insert("x-request-id", id.parse().expect("metadata"));
    }
    session.memory().memorize(request).await.expect("it is stored").metadata().clone()
}

#[tokio::test]
async fn each_call_has_an_id_of_its_own() {
    let session = Session::new().await;
    let first = id(&answered(&session, None).await);
    let second = id(&answered(&session, None).await);
    assert_ne!(first, second);
    let unknown = GetConversationRequest { conversation_id: "none".into(), ..Default::default() };
    let refused = session.conversations().get_conversation(unknown).await.unwrap_err();
    assert!(![first, second].contains(&id(refused.metadata())));
}

#[tokio::test]
async fn a_caller_can_choose_the_id() {
    let session = Session::new().await;
    let long = "x".repeat(128);
    for given in ["a-1", &long] {
        assert_eq!(id(&answered(&session, Some(given)).await), given);
    }
    for unfit in ["", "a b", &"x".repeat(129)] {
        let made = id(&answered(&session, Some(unfit)).await);
        assert!(made != unfit && !made.is_empty(), "{made:?}");
    }
    let mut refused = Request::new(MemorizeRequest::default());
    refused.metadata_mut().insert("x-request-id", "mine".parse().expect("metadata"));
    let refused = session.memory().memorize(refused).await.unwrap_err();
    assert_eq!((refused.code(), id(refused.metadata()).as_str()), (Code::InvalidArgument, "mine"));
}

/// The value of a metric.
fn metric(session: &Session, name: &str) -> f64 {
    let text = session.server.metrics().text().expect("metrics");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().expect("a number"))
}

fn handled(session: &Session, kind: &str, service: &str, method: &str, code: &str) -> f64 {
    let labels = format!(
        r#"{{grpc_code="{code}",grpc_method="{method}",grpc_service="utterd.v1.{service}",grpc_type="{kind}"}}"#
    );
    metric(session, &format!("grpc_server_handled_total{labels}"))
}

#[tokio::test]
async fn calls_are_counted_by_their_status() {
    let session = Session::new().await;
    session.say(vec![user("one"), user("two")]).await;
    session.memory().memorize(MemorizeRequest::default()).await.unwrap_err();
    let of_memorize = |code| handled(&session, "unary", "MemoryService", "Memorize", code);
    assert_eq!((of_memorize("OK"), of_memorize("InvalidArgument")), (1.0, 1.0));
    let labels = r#"{grpc_method="Memorize",grpc_service="utterd.v1.MemoryService",grpc_type="unary"}"#;
    assert_eq!(metric(&session, &format!("grpc_server_started_total{labels}")), 2.0);
    let took = |code| {
        let labels = labels.replace("{", &format!("{{grpc_code=\"{code}\","));
        metric(&session, &format!("grpc_server_handling_seconds_count{labels}"))
    };
    assert_eq!((took("OK"), took("InvalidArgument")), (1.0, 1.0));
}

/// A stream that its caller leaves is cancelled; one that the server ends has its status.
#[tokio::test]
async fn streams_are_counted_when_they_end() {
    let session = Session::new().await;
    let watch = async || session.memory().watch_capacity(WatchCapacityRequest::default()).await;
    let of_watches = |code| handled(&session, "server_stream", "MemoryService", "WatchCapacity", code);
    let (mut left, mut ended) = (watch().await.reply(), watch().await.reply());
    left.message().await.unwrap().expect("the capacity");
    ended.message().await.unwrap().expect("the capacity");
    assert_eq!((metric(&session, "utterd_streams_open"), of_watches("Canceled")), (2.0, 0.0));
    drop(left);
    while of_watches("Canceled") == 0.0 {
        tokio::task::yield_now().await;
    }
    session.server.close();
    let status = ended.message().await.unwrap_err();
    id(status.metadata());
    Refused::new(status).is(Code::Unavailable, "SERVER_CLOSING");
    assert_eq!((of_watches("Canceled"), of_watches("Unavailable")), (1.0, 1.0));
}

/// Whatever paths clients make up, they are one metric.
#[tokio::test]
async fn unknown_methods_are_one() {
    let session = Session::new().await;
    for path in ["/made.up.a/Call", "/made.up.b/Call", "/utterd.v1.MemoryService/Made"] {
        send(&session, path, Vec::new()).await.unwrap_err();
    }
    let text = session.server.metrics().text().expect("metrics");
    let labels =
        r#"{grpc_code="Unimplemented",grpc_method="unknown",grpc_service="unknown",grpc_type="unary"}"#;
    assert_eq!(metric(&session, &format!("grpc_server_handled_total{labels}")), 3.0);
    assert!(!text.contains("made.up") && !text.contains("Made"), "{text}");
}

#[tokio::test]
async fn what_happens_to_utterances_is_counted() {
    let session =
        Session::with(&Settings { buffer_size: 4, keep_utterances: 2, ..Settings::default() }).await;
    for step in 0..5 {
        session.say(vec![user(&format!("message {step}"))]).await;
    }
    let count = |name| metric(&session, name);
    assert_eq!(count("utterd_utterances_memorized_total"), 5.0);
    assert_eq!(count("utterd_utterances_evicted_total"), 3.0);
    assert_eq!(count("utterd_segments_written_total"), 1.0);
    assert_eq!(count("utterd_conversations_started_total"), 1.0);
    assert_eq!(count(r#"utterd_operations_total{operation="Memorize"}"#), 5.0);
    assert_eq!(count(r#"utterd_store_commits_total{outcome="committed"}"#), 5.0);
    assert_eq!(count("utterd_commit_calls_count"), 5.0);
    let window: i32 = session.window().await.iter().filter_map(|utterance| utterance.token_count).sum();
    assert!(count("utterd_tokens_counted_total") > f64::from(window));
    assert!(count("utterd_cache_hits_total") > 0.0);
}

/// How many conversations are active is the difference, whether they end or are deleted.
#[tokio::test]
async fn conversations_are_counted_when_they_start_and_when_they_end() {
    let session = Session::new().await;
    for id in ["ended", "deleted", "active"] {
        let create = CreateConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        session.conversations().create_conversation(create).await.reply();
    }
    session.end("ended").await;
    for id in ["ended", "deleted"] {
        session.delete(id).await;
    }
    assert_eq!(metric(&session, "utterd_conversations_started_total"), 3.0);
    assert_eq!(metric(&session, "utterd_conversations_ended_total"), 2.0);
}
