//! GetConversation.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto::{self, ConversationView},
    share,
};
use utterd_domain::Refusal;
use utterd_engine::Caller;

impl Services {
    pub(super) async fn viewed(
        &self,
        caller: &Caller,
        request: proto::GetConversationRequest,
    ) -> Result<proto::GetConversationResponse, Status> {
        let address = decode::read_address_of!(request).or_status()?;
        let is_full = is_full(request.view).or_status()?;
        let (state, active) = self.engine.get_conversation(caller, &address).await.or_status()?;
        let now = self.engine.now();
        let mut conversation = encode::conversation(&state.head, self.status_of(&state), active);
        conversation.forks = self.forks(&state).await?;
        if is_full {
            conversation.summary = state.summary.text();
        }
        let shares = state.head.shares.iter().filter(|share| share.is_good(now)).map(share::message);
        Ok(proto::GetConversationResponse { conversation: Some(conversation), shares: shares.collect() })
    }
}

fn is_full(view: i32) -> Result<bool, Refusal> {
    let accepted = "BASIC (1) and FULL (2)";
    Ok(match decode::choice("view", view, accepted)? {
        ConversationView::Full => true,
        ConversationView::Unspecified | ConversationView::Basic => false,
    })
}
