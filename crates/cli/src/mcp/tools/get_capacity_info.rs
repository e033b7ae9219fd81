//! `get_capacity_info`: reports how full a window is.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::{
    mcp::tool::{Answer, Effect, Fault, Memory, Tool},
    messages::capacity::describe,
};
use utterd_rpc::proto::GetCapacityInfoRequest;

/// Reports how full a window is.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetCapacityInfo {
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
}

impl Tool for GetCapacityInfo {
    const NAME: &'static str = "get_capacity_info";
    const TITLE: &'static str = "See how full the window is";
    const DESCRIPTION: &'static str = "Report how full a conversation's window is, and what has left it.";
    const EFFECT: Effect = Effect::Reads;
    const IS_USUAL: bool = false;
    const RARE: &'static [&'static str] = &["recipient_id"];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let (conversation_id, recipient_id) = memory.address(self.conversation_id, self.recipient_id).await?;
        let request = GetCapacityInfoRequest { conversation_id, recipient_id, ..Default::default() };
        let response = memory.server.memory().get_capacity_info(request).await?.into_inner();
        Answer::new(&response, describe(&response.capacity.clone().unwrap_or_default()))
    }
}
