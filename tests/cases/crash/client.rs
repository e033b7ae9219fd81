//! Connections to a server.

use tonic::{Status, transport::Channel};
use tonic_types::StatusExt;
use utterd::proto::{
    conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
};

/// More than any list of a test has.
const LARGEST_MESSAGE: usize = 1 << 30;

/// A connection and the services that are called over it.
#[derive(Clone, Debug)]
pub struct Client {
    /// `MemoryService`.
    pub memory: MemoryServiceClient<Channel>,
    /// `ConversationService`.
    pub conversations: ConversationServiceClient<Channel>,
}

impl Client {
    /// Connects to `address`, `127.0.0.1:PORT`.
    pub async fn connect(address: &str) -> Self {
        let endpoint = Channel::from_shared(format!("http://{address}")).expect("an address");
        let channel = endpoint.connect().await.expect("a server that listens accepts");
        Self {
            memory: MemoryServiceClient::new(channel.clone()).max_decoding_message_size(LARGEST_MESSAGE),
            conversations: ConversationServiceClient::new(channel).max_decoding_message_size(LARGEST_MESSAGE),
        }
    }
}

/// The reason that the server gives; `None` if the status is not from the server.
pub fn reason(status: &Status) -> Option<String> {
    status.get_details_error_info().map(|info| info.reason)
}
