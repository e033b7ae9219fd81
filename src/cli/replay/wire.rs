//! One MemorizeStream: a message out, its outcome in.

use prost::Message;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming, transport::Channel};

use crate::proto::{
    MemorizeRequest, MemorizeResponse, MemorizeStreamRequest, MemorizeStreamResponse,
    memorize_stream_response::Result as Outcome, memory_service_client::MemoryServiceClient,
};

/// A stream of requests, opened with the first.
pub struct Wire {
    client: MemoryServiceClient<Channel>,
    requests: Sender<MemorizeStreamRequest>,
    unopened: Option<Receiver<MemorizeStreamRequest>>,
    responses: Option<Streaming<MemorizeStreamResponse>>,
}

impl Wire {
    /// A stream that `client` will open.
    pub fn new(client: MemoryServiceClient<Channel>) -> Self {
        let (requests, unopened) = channel(1);
        Self { client, requests, unopened: Some(unopened), responses: None }
    }

    /// Sends a request and waits for its outcome.
    pub async fn exchange(&mut self, request: MemorizeRequest) -> Result<MemorizeResponse, Status> {
        let request = MemorizeStreamRequest { memorize: Some(request) };
        // When the stream has ended, its status comes from the responses.
        let _ = self.requests.send(request).await;
        if let Some(requests) = self.unopened.take() {
            let stream = self.client.memorize_stream(ReceiverStream::new(requests)).await?;
            self.responses = Some(stream.into_inner());
        }
        let ended = || Status::unavailable("the server ended the stream");
        let response = self.responses.as_mut().ok_or_else(ended)?.message().await?;
        match response.and_then(|response| response.result).ok_or_else(ended)? {
            Outcome::Memorized(response) => Ok(response),
            Outcome::Error(error) => Err(status(&error)),
        }
    }
}

/// A status that came in a message, with its details.
fn status(error: &tonic_types::pb::Status) -> Status {
    let details = error.encode_to_vec();
    Status::with_details(Code::from_i32(error.code), error.message.clone(), details.into())
}
