//! Calls that change a conversation, and the facts in their responses.

use crate::{
    crash::client::{Client, reason},
    support::prelude::*,
};

/// A call that changes a conversation.
#[derive(Clone, Debug)]
pub enum Request {
    /// CreateConversation.
    Create(CreateConversationRequest),
    /// Memorize, or one message of MemorizeStream.
    Memorize(MemorizeRequest),
    /// Forget.
    Forget(ForgetRequest),
    /// Restore.
    Restore(RestoreRequest),
    /// DeleteConversation, which has no request id.
    Delete(DeleteConversationRequest),
}

/// What a response reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The conversation's revision after the call; 0 if it was deleted.
    pub revision: i64,
    /// The stored utterances.
    pub memorized: Vec<UtteranceRef>,
    /// The utterances that left the window.
    pub evicted: Vec<UtteranceRef>,
    /// The utterances forgotten, soft or hard.
    pub forgotten: Vec<UtteranceRef>,
    /// The restored utterances.
    pub restored: Vec<UtteranceRef>,
    /// How full the window is after the call; absent for DeleteConversation and CreateConversation.
    pub capacity: Option<Capacity>,
    /// Whether an earlier call with the same request id had this outcome.
    pub replayed: bool,
}

/// Why a call has no response.
#[derive(Debug)]
pub enum Failure {
    /// The server is gone; it is unknown whether the call took effect.
    Unanswered,
    /// The server refused.
    Refused(Box<Status>),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        match reason(&status) {
            Some(_) => Self::Refused(Box::new(status)),
            None => Self::Unanswered,
        }
    }
}

impl Request {
    /// Makes the call.
    pub async fn send(&self, client: &mut Client) -> Result<Facts, Failure> {
        Ok(match self.clone() {
            Self::Create(request) => {
                let response = client.conversations.create_conversation(request).await?.into_inner();
                let revision = response.conversation.map_or(0, |conversation| conversation.revision);
                Facts { revision, replayed: response.replayed, ..Facts::default() }
            }
            Self::Memorize(request) => client.memory.memorize(request).await?.into_inner().into(),
            Self::Forget(request) => {
                let response = client.memory.forget(request).await?.into_inner();
                let (revision, capacity) = (response.revision, response.capacity);
                let (forgotten, replayed) = (response.forgotten, response.replayed);
                Facts { revision, forgotten, capacity, replayed, ..Facts::default() }
            }
            Self::Restore(request) => {
                let response = client.memory.restore(request).await?.into_inner();
                let (revision, capacity) = (response.revision, response.capacity);
                let (restored, evicted, replayed) = (response.restored, response.evicted, response.replayed);
                Facts { revision, restored, evicted, capacity, replayed, ..Facts::default() }
            }
            Self::Delete(request) => {
                client.conversations.delete_conversation(request).await?;
                Facts::default()
            }
        })
    }

    /// Whether it can remove utterances.
    pub fn erases(&self) -> bool {
        match self {
            Self::Forget(request) => request.mode() == ForgetMode::Hard,
            Self::Delete(_) => true,
            Self::Create(_) | Self::Memorize(_) | Self::Restore(_) => false,
        }
    }

    /// Whether the server stores its outcome, so that a repeated call returns it.
    pub fn is_named(&self) -> bool {
        !matches!(self, Self::Delete(_))
    }
}

impl From<MemorizeResponse> for Facts {
    fn from(response: MemorizeResponse) -> Self {
        Self {
            revision: response.revision,
            memorized: response.memorized,
            evicted: response.evicted,
            capacity: response.capacity,
            replayed: response.replayed,
            ..Self::default()
        }
    }
}
