//! A share's token reads its one conversation, and gives access to nothing else.

use utterd::proto::{
    conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
};

use crate::{
    guard::guarded::{Guarded, bearer, entry, headers, with},
    support::prelude::*,
};

/// A server, and the token of a share of a conversation of shop 1.
async fn shared() -> (Guarded, String) {
    let text = entry("one", "shop-1", "read-write", "token-1") + &entry("two", "shop-2", "admin", "token-2");
    let server = Guarded::with(&text).await;
    let said = NewUtterance { role: Role::User.into(), content: "hello".into(), ..Default::default() };
    let memorize =
        MemorizeRequest { conversation_id: "a".into(), utterances: vec![said], ..Default::default() };
    let mut memory = MemoryServiceClient::new(server.channel());
    memory.memorize(with("token-1", memorize)).await.expect("it is stored");
    let share = ShareConversationRequest { conversation_id: "a".into(), ..Default::default() };
    let mut client = ConversationServiceClient::new(server.channel());
    let token = client.share_conversation(with("token-1", share)).await.expect("shared").into_inner().token;
    (server, token)
}

#[tokio::test]
async fn whoever_holds_the_token_reads_the_conversation() {
    let (server, token) = shared().await;
    let mut client = ConversationServiceClient::new(server.channel());
    let request = ReadSharedRequest { token, ..Default::default() };
    let anonymous = client.read_shared(request.clone()).await.expect("it is open").into_inner();
    let known = client.read_shared(with("token-2", request)).await.expect("it is open").into_inner();
    assert_eq!(anonymous, known);
    assert_eq!(anonymous.utterances.len(), 1);
}

#[tokio::test]
async fn the_token_of_a_share_is_no_credential() {
    let (server, token) = shared().await;
    for path in [
        "/utterd.v1.ConversationService/ListConversations",
        "/utterd.v1.ConversationService/GetConversation",
        "/utterd.v1.MemoryService/Memorize",
        "/utterd.v1.TraceService/WatchEvents",
    ] {
        server.refusal(path, &bearer(&token)).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
        server.refusal(path, &headers(&[])).await.is(Code::Unauthenticated, "MISSING_CREDENTIALS");
    }
}

#[tokio::test]
async fn a_credential_is_no_token_of_a_share() {
    let (server, _) = shared().await;
    let mut client = ConversationServiceClient::new(server.channel());
    for token in ["token-1", "utterd_share_AAAA"] {
        let request = ReadSharedRequest { token: token.into(), ..Default::default() };
        let status = client.read_shared(with("token-1", request)).await.expect_err("it is refused");
        Refused::new(status).is(Code::PermissionDenied, "SHARE_NOT_VALID");
    }
}
