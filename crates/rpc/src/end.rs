//! EndConversation.

use crate::convert::status::OrStatus;
use std::time::Duration;

use crate::{Services, convert::decode, proto};
use utterd_domain::{Refusal, end::End, limits::MAX_REASON_BYTES};
use utterd_engine::{Call, Caller};

impl Services {
    pub(super) async fn end(
        &self,
        caller: &Caller,
        request: proto::EndConversationRequest,
        patience: Option<Duration>,
    ) -> Result<proto::EndConversationResponse, tonic::Status> {
        let wait = request.wait_for_llm;
        let call = end_call(request).or_status()?;
        let mut reply = self.engine.apply(caller, call).await.or_status()?;
        if wait {
            reply = self.engine.wait_for_closing(reply, patience).await.or_status()?;
        }
        Ok(proto::EndConversationResponse {
            conversation: self.conversation_of(&reply).await?,
            replayed: reply.replayed(),
        })
    }
}

fn end_call(request: proto::EndConversationRequest) -> Result<Call<End>, Refusal> {
    let attempt = decode::attempt_of!("EndConversation", request)?;
    let reason = request.reason.as_str();
    decode::line("reason", reason, MAX_REASON_BYTES)?;
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: End { reason: reason.into(), expected: decode::revision(request.expected_revision)? },
        attempt,
    })
}
