//! DeleteRecipient.

use tonic::Status;

use crate::{
    domain::Refusal,
    engine::Caller,
    proto,
    rpc::{
        Services,
        convert::{decode, encode},
    },
};

impl Services {
    pub(super) async fn remove_recipient(
        &self,
        caller: &Caller,
        request: &proto::DeleteRecipientRequest,
    ) -> Result<proto::DeleteRecipientResponse, Status> {
        if request.recipient_id.is_empty() {
            let text = "is empty; accepted: a recipient's id, as this call has no default";
            return Err(Refusal::id("recipient_id", text).into());
        }
        let recipient = decode::recipient_id(&request.recipient_id)?;
        let removal = self.engine.delete_recipient(caller, &recipient).await?;
        Ok(proto::DeleteRecipientResponse {
            conversation_count: Some(encode::int(removal.conversations)),
            utterance_count: Some(encode::int(removal.utterances)),
        })
    }
}
