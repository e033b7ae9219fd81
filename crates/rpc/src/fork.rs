//! ForkConversation.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    conversation::title,
    convert::{decode, encode},
    proto,
};
use utterd_domain::{Conversation, ConversationId, RecipientId, Refusal, Sequence};
use utterd_engine::{Caller, ForkCall};

impl Services {
    pub(super) async fn fork(
        &self,
        caller: &Caller,
        request: proto::ForkConversationRequest,
    ) -> Result<proto::ForkConversationResponse, Status> {
        let call = call(&request).or_status()?;
        let reply = self.engine.fork_conversation(caller, call).await.or_status()?;
        Ok(proto::ForkConversationResponse {
            conversation: self.conversation_of(&reply).await?,
            capacity: Some(self.capacity(&reply, None)),
            replayed: reply.replayed(),
        })
    }

    /// Returns the forks of a conversation.
    pub(super) async fn forks(&self, state: &Conversation) -> Result<Vec<proto::ForkPoint>, Status> {
        let forks = self.engine.forks(state).await.or_status()?.into_iter();
        let point = |(id, sequence): (ConversationId, Sequence)| proto::ForkPoint {
            conversation_id: id.to_string(),
            sequence: Some(encode::long(sequence.get())),
        };
        Ok(forks.map(point).collect())
    }
}

fn call(request: &proto::ForkConversationRequest) -> Result<ForkCall, Refusal> {
    let attempt = decode::attempt_of!("ForkConversation", request)?;
    let id = match request.new_conversation_id.as_str() {
        "" => None,
        text => {
            let bad = |error| Refusal::bad_id("new_conversation_id", &error);
            Some(ConversationId::new(text).map_err(bad)?)
        }
    };
    let recipient = match request.to_recipient_id.as_str() {
        "" => None,
        text => Some(RecipientId::new(text).map_err(|error| Refusal::bad_id("to_recipient_id", &error))?),
    };
    Ok(ForkCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        id,
        recipient,
        at: request.at_sequence.map(point).transpose()?,
        title: title(&request.title)?,
        start: None,
        activate: Some(request.activate),
        expected: decode::revision(request.expected_revision)?,
        attempt,
    })
}

fn point(at: i64) -> Result<Sequence, Refusal> {
    let refuse = |_| Refusal::invalid("at_sequence", format!("is {at}; accepted: sequences, from 1"));
    u64::try_from(at).map(Sequence).map_err(refuse)
}
