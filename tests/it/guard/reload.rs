//! Changes to the files: who is admitted, and which running calls end.

use futures::stream;
use tonic::Streaming;
use utterd::proto::{
    conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
    trace_service_client::TraceServiceClient, watch_events_response::Message,
};

use crate::{
    guard::guarded::{CREDENTIALS, Guarded, bearer, entry, with},
    support::prelude::*,
};

const LIST: &str = "/utterd.v1.ConversationService/ListConversations";
/// Longer than it takes to notice a change.
const SEEN: Duration = Duration::from_secs(3);

fn one() -> String {
    entry("one", "shop-1", "read-write", "token-1")
}

fn two() -> String {
    entry("two", "shop-2", "read-write", "token-2")
}

async fn watch(server: &Guarded, token: &str) -> Streaming<WatchEventsResponse> {
    let mut client = TraceServiceClient::new(server.channel());
    client.watch_events(with(token, WatchEventsRequest::default())).await.expect("it is watched").into_inner()
}

/// How a stream ends, apart from its remaining messages.
async fn end<T>(mut responses: Streaming<T>) -> Refused {
    loop {
        match responses.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended well"),
            Err(status) => return Refused::new(status),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_removed_is_shut_out_and_the_others_are_not() {
    let server = Guarded::with(&(one() + &two())).await;
    let (first, mut second) = (watch(&server, "token-1").await, watch(&server, "token-2").await);
    server.write(CREDENTIALS, &two());
    end(first).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    server.refusal(LIST, &bearer("token-1")).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    let mut client = ConversationServiceClient::new(server.channel());
    let create = CreateConversationRequest { conversation_id: "a".into(), ..Default::default() };
    client.create_conversation(with("token-2", create)).await.expect("it is created");
    loop {
        let response = second.message().await.expect("it goes on").expect("it goes on");
        if matches!(response.message, Some(Message::Event(event)) if event.conversation_id == "a") {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_utterances_ends_with_its_credential() {
    let server = Guarded::with(&one()).await;
    let mut client = MemoryServiceClient::new(server.channel());
    let endless = stream::pending::<MemorizeStreamRequest>();
    let responses = client.memorize_stream(with("token-1", endless)).await.expect("it is open").into_inner();
    server.write(CREDENTIALS, "");
    end(responses).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
}

#[tokio::test(start_paused = true)]
async fn an_import_that_waits_ends_with_its_credential() {
    let server = Guarded::with(&one()).await;
    let mut client = ConversationServiceClient::new(server.channel());
    let never = stream::pending::<ImportConversationRequest>();
    let import = client.import_conversation(with("token-1", never));
    let removed = async {
        tokio::time::sleep(SEEN).await; // it is admitted by then
        server.write(CREDENTIALS, "");
    };
    let (ended, ()) = tokio::join!(import, removed);
    Refused::new(ended.expect_err("it is refused")).is(Code::Unauthenticated, "INVALID_CREDENTIALS");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_credential_expires() {
    let server = Guarded::with(&(one() + "expires = 2026-03-01T12:10:00Z\n")).await;
    let watch = watch(&server, "token-1").await;
    server.clock.advance(Duration::from_secs(600));
    end(watch).await.is(Code::Unauthenticated, "EXPIRED_CREDENTIALS");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_credential_may_less() {
    let server = Guarded::with(&one()).await;
    let watch = watch(&server, "token-1").await;
    server.write(CREDENTIALS, &one().replace("read-write", "read-only"));
    end(watch).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    server.call(LIST, &bearer("token-1")).await.expect("it may still read");
}

#[tokio::test(start_paused = true)]
async fn who_is_added_is_let_in() {
    let server = Guarded::with(&one()).await;
    server.refusal(LIST, &bearer("token-2")).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    server.write(CREDENTIALS, &(one() + &two()));
    tokio::time::sleep(SEEN).await;
    server.call(LIST, &bearer("token-2")).await.expect("it is known");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_wrong_changes_nothing() {
    let server = Guarded::with(&one()).await;
    for wrong in ["[[credentials]]\n", "nonsense", &(two() + &two())] {
        server.write(CREDENTIALS, wrong);
        tokio::time::sleep(SEEN).await;
        server.call(LIST, &bearer("token-1")).await.expect("what held before holds");
        server.refusal(LIST, &bearer("token-2")).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
    server.write(CREDENTIALS, &two());
    tokio::time::sleep(SEEN).await;
    server.call(LIST, &bearer("token-2")).await.expect("it is known");
}
