//! Memorize, as a client calls it.

use utterd::proto::{MemorizeRequest, NewUtterance, Role, memory_service_client::MemoryServiceClient};

use crate::support::{connect, server};

#[tokio::test]
async fn a_fresh_server_takes_a_bare_utterance() {
    let (server, _) = server();
    let mut client = MemoryServiceClient::new(connect(&server).await);
    let hello = NewUtterance { role: Role::User.into(), content: "hi".to_owned(), ..Default::default() };
    let request = MemorizeRequest { utterances: vec![hello], ..Default::default() };
    let response = client.memorize(request).await.unwrap().into_inner();
    assert!(response.started_conversation);
    assert_eq!(response.memorized[0].sequence, 1);
    assert_eq!(response.capacity.unwrap().token_count, Some(5));
}
