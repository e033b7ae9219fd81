//! The calls in a store's life.

use utterd::proto::{
    compaction_service_server::CompactionService, conversation_service_server::ConversationService,
    memory_service_server::MemoryService,
};

use crate::{
    durable::{home::Home, json::json},
    support::prelude::*,
};

/// Something that happens to a store.
#[derive(Clone, Debug)]
pub enum Call {
    Memorize(MemorizeRequest),
    Forget(ForgetRequest),
    Restore(RestoreRequest),
    Mark(UpdateUtteranceRequest),
    Create(CreateConversationRequest),
    Update(UpdateConversationRequest),
    Fork(ForkConversationRequest),
    Delete(DeleteConversationRequest),
    Compact(CompactConversationRequest),
    End(EndConversationRequest),
    Share(ShareConversationRequest),
    State(UpdateStateRequest),
    /// Time passes, and what is then due is done.
    Wait(Duration),
    /// The files are rewritten without removed data.
    Scrub,
}

impl Call {
    /// The request id; empty if there is none.
    pub fn request_id(&self) -> &str {
        match self {
            Self::Memorize(request) => &request.request_id,
            Self::Forget(request) => &request.request_id,
            Self::Restore(request) => &request.request_id,
            Self::Mark(request) => &request.request_id,
            Self::Create(request) => &request.request_id,
            Self::Update(request) => &request.request_id,
            Self::Fork(request) => &request.request_id,
            Self::Compact(request) => &request.request_id,
            Self::End(request) => &request.request_id,
            Self::State(request) => &request.request_id,
            Self::Delete(_) | Self::Share(_) | Self::Wait(_) | Self::Scrub => "",
        }
    }

    /// Makes the call; returns the response as JSON.
    pub async fn send(&self, home: &Home) -> Result<String, Status> {
        let services = home.server.services();
        Ok(match self.clone() {
            Self::Memorize(request) => {
                json("MemorizeResponse", services.memorize(Request::new(request)).await?.get_ref())
            }
            Self::Forget(request) => {
                json("ForgetResponse", services.forget(Request::new(request)).await?.get_ref())
            }
            Self::Restore(request) => {
                json("RestoreResponse", services.restore(Request::new(request)).await?.get_ref())
            }
            Self::Mark(request) => {
                let response = services.update_utterance(Request::new(request)).await?;
                json("UpdateUtteranceResponse", response.get_ref())
            }
            Self::Create(request) => {
                let response = services.create_conversation(Request::new(request)).await?;
                json("CreateConversationResponse", response.get_ref())
            }
            Self::Update(request) => {
                let response = services.update_conversation(Request::new(request)).await?;
                json("UpdateConversationResponse", response.get_ref())
            }
            Self::Fork(request) => {
                let response = services.fork_conversation(Request::new(request)).await?;
                json("ForkConversationResponse", response.get_ref())
            }
            Self::Delete(request) => {
                let response = services.delete_conversation(Request::new(request)).await?;
                json("DeleteConversationResponse", response.get_ref())
            }
            Self::Compact(request) => {
                let response = services.compact_conversation(Request::new(request)).await?;
                json("CompactConversationResponse", response.get_ref())
            }
            Self::End(request) => {
                let response = services.end_conversation(Request::new(request)).await?;
                json("EndConversationResponse", response.get_ref())
            }
            Self::Share(request) => {
                let response = services.share_conversation(Request::new(request)).await?;
                json("ShareConversationResponse", response.get_ref())
            }
            Self::State(request) => {
                let response = services.update_state(Request::new(request)).await?;
                json("UpdateStateResponse", response.get_ref())
            }
            Self::Wait(time) => {
                home.clock.advance(time);
                let removed = home
                    .server
                    .engine()
                    .sweep()
                    .await
                    .map_err(|error| Status::internal(error.to_string()))?;
                format!("{removed} removed")
            }
            Self::Scrub => {
                let scrubbed = home.store.scrub().await;
                scrubbed.map_err(|error| Status::unavailable(error.to_string()))?;
                String::new()
            }
        })
    }
}
