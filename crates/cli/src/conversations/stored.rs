//! Reads what is stored of a conversation, page by page.

use crate::{args::Target, client::Connection, errors::CliError};
use utterd_rpc::proto::{
    Conversation, GetConversationRequest, ListUtterancesRequest, ListUtterancesResponse, Utterance,
};

/// The most utterances read at once: as many as the server gives.
pub const PAGE_SIZE: i32 = 1_000;

/// The target conversation, which must exist.
pub async fn conversation(connection: &Connection, target: &Target) -> Result<Conversation, CliError> {
    let request = GetConversationRequest {
        conversation_id: target.conversation(),
        recipient_id: target.recipient.clone(),
        ..Default::default()
    };
    let response = connection.conversations().get_conversation(request).await?.into_inner();
    Ok(response.conversation.unwrap_or_default())
}

/// Reads all pages of a request.
pub async fn utterances(
    connection: &Connection,
    mut request: ListUtterancesRequest,
) -> Result<Vec<Utterance>, CliError> {
    let mut utterances = Vec::new();
    loop {
        let page = connection.conversations().list_utterances(request.clone()).await?.into_inner();
        let ListUtterancesResponse { utterances: more, next_page_token } = page;
        utterances.extend(more);
        if next_page_token.is_empty() {
            return Ok(utterances);
        }
        request.page_token = next_page_token;
    }
}
