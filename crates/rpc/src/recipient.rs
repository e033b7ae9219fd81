//! DeleteRecipient.

use crate::convert::status::{IntoStatus, OrStatus};
use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto,
};
use utterd_domain::Refusal;
use utterd_engine::Caller;

impl Services {
    pub(super) async fn remove_recipient(
        &self,
        caller: &Caller,
        request: &proto::DeleteRecipientRequest,
    ) -> Result<proto::DeleteRecipientResponse, Status> {
        if request.recipient_id.is_empty() {
            let text = "is empty; accepted: a recipient's id, as this call has no default";
            return Err(Refusal::id("recipient_id", text).into_status());
        }
        let recipient = decode::recipient_id(&request.recipient_id).or_status()?;
        let removal = self.engine.delete_recipient(caller, &recipient).await.or_status()?;
        Ok(proto::DeleteRecipientResponse {
            conversation_count: Some(encode::int(removal.conversations)),
            utterance_count: Some(encode::int(removal.utterances)),
        })
    }
}
