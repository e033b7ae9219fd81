//! Bearer tokens: who is admitted, to which namespace, and how others are refused.

use utterd::{
    proto::{
        conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
    },
    server::Server,
};

use crate::{
    guard::guarded::{Guarded, bearer, entry, headers, with, within},
    support::prelude::*,
};

const LIST: &str = "/utterd.v1.ConversationService/ListConversations";

fn memorize(conversation: &str) -> MemorizeRequest {
    let utterance =
        NewUtterance { role: Role::User.into(), content: "hello".into(), ..NewUtterance::default() };
    MemorizeRequest {
        conversation_id: conversation.into(),
        utterances: vec![utterance],
        ..MemorizeRequest::default()
    }
}

async fn two_shops() -> Guarded {
    let entries = [
        entry("one", "shop-1", "read-write", "token-1"),
        entry("two", "shop-2", "read-write", "token-2"),
        entry("reader", "shop-2", "read-only", "token-3"),
        entry("all", "office", "admin", "token-4"),
    ];
    Guarded::with(&entries.concat()).await
}

async fn conversations(server: &Guarded, request: tonic::Request<ListConversationsRequest>) -> Vec<String> {
    let mut client = ConversationServiceClient::new(server.channel());
    let response = client.list_conversations(request).await.expect("it is listed").into_inner();
    response.conversations.into_iter().map(|it| it.conversation_id).collect()
}

#[tokio::test]
async fn each_token_opens_its_own_namespace() {
    let server = two_shops().await;
    let mut memory = MemoryServiceClient::new(server.channel());
    memory.memorize(with("token-1", memorize("a"))).await.expect("it is stored");
    memory.memorize(with("token-2", memorize("b"))).await.expect("it is stored");
    let list = ListConversationsRequest::default;
    assert_eq!(conversations(&server, with("token-1", list())).await, ["a"]);
    assert_eq!(conversations(&server, with("token-2", list())).await, ["b"]);
    assert_eq!(conversations(&server, with("token-3", list())).await, ["b"]);
    assert_eq!(conversations(&server, with("token-4", list())).await, [""; 0]);
    let mut client = ConversationServiceClient::new(server.channel());
    let request = GetConversationRequest { conversation_id: "b".into(), ..Default::default() };
    let status = client.get_conversation(with("token-1", request)).await.expect_err("it is refused");
    Refused::new(status).is(Code::NotFound, "CONVERSATION_NOT_FOUND");
}

#[tokio::test]
async fn an_admin_names_the_namespace() {
    let server = two_shops().await;
    let mut memory = MemoryServiceClient::new(server.channel());
    memory.memorize(within("shop-1", "token-4", memorize("a"))).await.expect("it is stored");
    memory.memorize(within("shop-2", "token-2", memorize("b"))).await.expect("it is its own");
    let list = ListConversationsRequest::default;
    assert_eq!(conversations(&server, with("token-1", list())).await, ["a"]);
    assert_eq!(conversations(&server, within("shop-2", "token-4", list())).await, ["b"]);
    assert_eq!(conversations(&server, with("token-4", list())).await, [""; 0]);
    let status = memory.memorize(within("shop-2", "token-1", memorize("c"))).await.expect_err("refused");
    Refused::new(status).is(Code::PermissionDenied, "NAMESPACE_FORBIDDEN").says("admin");
    assert_eq!(conversations(&server, with("token-2", list())).await, ["b"]);
}

#[tokio::test]
async fn what_names_no_namespace_is_refused() {
    let server = two_shops().await;
    let token = ("authorization", "Bearer token-4");
    for values in [&[""][..], &["a", "b"], &[&"x".repeat(257)]] {
        let named = values.iter().map(|value| ("utterd-namespace", *value));
        let all: Vec<_> = named.chain([token]).collect();
        server.refusal(LIST, &headers(&all)).await.is(Code::InvalidArgument, "INVALID_NAMESPACE");
    }
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_refused_in_one_way() {
    let server = two_shops().await;
    let wrong = [
        "token-1",
        "Basic token-1",
        "Bearer",
        "Bearer ",
        "Bearer token",
        "Bearer token-11",
        "Bearer Token-1",
        "Bearer token-1 token-2",
        "Bearer shop-1",
        "",
    ];
    let mut told = Vec::new();
    for value in wrong {
        let refused = server.refusal(LIST, &headers(&[("authorization", value)])).await;
        told.push(refused.is(Code::Unauthenticated, "INVALID_CREDENTIALS").message().to_owned());
    }
    let two = [("authorization", "Bearer token-1"), ("authorization", "Bearer token-2")];
    let refused = server.refusal(LIST, &headers(&two)).await;
    told.push(refused.is(Code::Unauthenticated, "INVALID_CREDENTIALS").message().to_owned());
    told.dedup();
    assert_eq!(told, ["the credential is not accepted"]);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let headers = headers(&[("authorization", &format!("{scheme} token-1"))]);
        server.call(LIST, &headers).await.expect("the scheme's case does not matter");
    }
}

#[tokio::test]
async fn a_token_expires() {
    let text = entry("one", "shop-1", "read-write", "token-1") + "expires = 2026-03-01T12:01:00Z\n";
    let server = Guarded::with(&text).await;
    server.call(LIST, &bearer("token-1")).await.expect("it is good until then");
    server.clock.advance(Duration::from_secs(60));
    let refused = server.refusal(LIST, &bearer("token-1")).await;
    refused.is(Code::Unauthenticated, "EXPIRED_CREDENTIALS");
}

#[tokio::test]
async fn without_credentials_there_is_one_namespace() {
    let server = Guarded::with_files(&[], |settings| settings).await;
    server.call(LIST, &headers(&[])).await.expect("everybody is let in");
    server.call(LIST, &bearer("whatever")).await.expect("everybody is let in");
    server.call(LIST, &headers(&[("utterd-namespace", "default")])).await.expect("it is the one");
    let refused = server.refusal(LIST, &headers(&[("utterd-namespace", "shop-1")])).await;
    refused.is(Code::PermissionDenied, "NAMESPACE_FORBIDDEN").says("default");
}

#[tokio::test]
async fn a_file_that_is_wrong_is_named_with_its_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("credentials.toml");
    let settings = Settings { credentials: Some(file.clone()), ..Settings::default() };
    let error = || match Server::new(&settings, ManualClock::new()) {
        Ok(_) => panic!("the server starts"),
        Err(error) => error.to_string(),
    };
    let unreadable = error();
    assert!(unreadable.contains("credentials.toml: No such file"), "{unreadable}");
    std::fs::write(&file, "\n[[credentials]]\nname = \"a\"\n").expect("it is written");
    let wrong = error();
    assert!(wrong.contains("credentials.toml: line 2: namespace: is missing; accepted: "), "{wrong}");
}
