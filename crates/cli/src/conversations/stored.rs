//! What is stored of a conversation: read page by page, and listed.

use std::io;

use tonic::Status;

use crate::{
    client::Connection,
    errors::CliError,
    terminal::{Output, folded, said, speaker},
};
use utterd_rpc::proto::{
    Capacity, Conversation, GetCapacityInfoRequest, GetConversationRequest, ListUtterancesRequest,
    ListUtterancesResponse, SequenceRange, Utterance,
};

/// The most utterances read at once: as many as the server gives.
pub const PAGE_SIZE: i32 = 1_000;

/// The conversation, or without an `id` the recipient's active one; it must exist.
pub async fn conversation(
    connection: &Connection,
    id: &str,
    recipient: &str,
) -> Result<Conversation, Status> {
    let request = GetConversationRequest {
        conversation_id: id.to_owned(),
        recipient_id: recipient.to_owned(),
        ..Default::default()
    };
    let response = connection.conversations().get_conversation(request).await?.into_inner();
    Ok(response.conversation.unwrap_or_default())
}

/// How full the window of the conversation is, or of the recipient's active one.
pub async fn capacity(connection: &Connection, id: String, recipient: String) -> Result<Capacity, Status> {
    let request =
        GetCapacityInfoRequest { conversation_id: id, recipient_id: recipient, ..Default::default() };
    let response = connection.memory().get_capacity_info(request).await?.into_inner();
    Ok(response.capacity.unwrap_or_default())
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

/// Everything stored of a conversation, including what is forgotten and can be restored.
pub async fn everything(connection: &Connection, conversation: &str) -> Result<Vec<Utterance>, CliError> {
    utterances(connection, all_of(conversation)).await
}

/// Asks for everything stored of a conversation.
pub fn all_of(conversation: &str) -> ListUtterancesRequest {
    ListUtterancesRequest {
        conversation_id: conversation.to_owned(),
        include_archive: true,
        include_forgotten: true,
        page_size: PAGE_SIZE,
        ..Default::default()
    }
}

/// Prints the utterances of a conversation in `ranges`, each on a line: number, speaker, text.
pub async fn tell(
    output: &mut Output,
    connection: &Connection,
    conversation: &str,
    ranges: &[SequenceRange],
) -> Result<(), CliError> {
    let firsts = ranges.iter().map(|range| range.first).min();
    let Some((first, last)) = firsts.zip(ranges.iter().map(|range| range.last).max()) else { return Ok(()) };
    let between = ListUtterancesRequest {
        after_sequence: Some(first - 1),
        before_sequence: Some(last + 1),
        ..all_of(conversation)
    };
    let is_meant = |utterance: &Utterance| {
        ranges.iter().any(|range| (range.first..=range.last).contains(&utterance.sequence))
    };
    let meant: Vec<_> = utterances(connection, between).await?.into_iter().filter(is_meant).collect();
    let width = meant.iter().map(|it| it.sequence.to_string().len()).max().unwrap_or(0);
    Ok(meant.iter().try_for_each(|utterance| line(output, utterance, width))?)
}

fn line(output: &mut Output, utterance: &Utterance, width: usize) -> io::Result<()> {
    let text = folded(&said(utterance).join("  "));
    let line = format!("{:>width$}  {}  {text}", utterance.sequence, speaker(utterance));
    output.row(&line)
}
