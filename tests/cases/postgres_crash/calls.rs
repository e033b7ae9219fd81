//! Calls to a server.

use tonic::Response;

use crate::{crash::client::Client, postgres_crash::fleet::within, support::prelude::*};

/// A conversation to which texts are written that nobody checks.
const HELLO: &str = "hello";

/// Writes.
pub async fn memorize(mut client: Client, request: MemorizeRequest) -> Result<MemorizeResponse, Status> {
    within("a write", client.memory.memorize(request)).await.map(Response::into_inner)
}

/// How many utterances there are.
pub async fn count(mut client: Client, request: GetCapacityInfoRequest) -> Result<i64, Status> {
    let response = within("a read", client.memory.get_capacity_info(request)).await?.into_inner();
    let capacity = response.capacity.unwrap_or_default();
    Ok(i64::from(capacity.utterance_count()) + i64::from(capacity.archived_utterance_count()))
}

/// The utterances.
pub async fn list(mut client: Client, request: ListUtterancesRequest) -> Result<Vec<Utterance>, Status> {
    let response = within("a read", client.conversations.list_utterances(request)).await?;
    Ok(response.into_inner().utterances)
}

/// A text of the default recipient.
pub fn saying(text: &str, request_id: &str) -> MemorizeRequest {
    let said = NewUtterance { role: Role::User.into(), content: text.into(), ..Default::default() };
    MemorizeRequest { utterances: vec![said], request_id: request_id.into(), ..Default::default() }
}

/// Writes something to a conversation of its own.
pub async fn hello(client: Client) -> Result<MemorizeResponse, Status> {
    let request = MemorizeRequest { conversation_id: HELLO.to_owned(), ..saying("hello", "") };
    memorize(client, request).await
}

/// Reads how much was written there.
pub async fn hellos(client: Client) -> Result<i64, Status> {
    count(client, GetCapacityInfoRequest { conversation_id: HELLO.to_owned(), ..Default::default() }).await
}
