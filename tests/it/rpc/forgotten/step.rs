//! Requests that change something.

use std::fmt::Debug;

use tonic::Response;

use crate::support::prelude::*;

/// A request that can be repeated.
#[derive(Clone, Debug)]
pub enum Step {
    Compact(CompactConversationRequest),
    Create(CreateConversationRequest),
    Edit(UpdateUtteranceRequest),
    End(EndConversationRequest),
    Forget(ForgetRequest),
    Fork(ForkConversationRequest),
    Memorize(MemorizeRequest),
    Undo(UndoCompactionRequest),
}

impl Step {
    /// The same, with a request id.
    pub fn named(mut self, id: String) -> Self {
        *match &mut self {
            Self::Compact(request) => &mut request.request_id,
            Self::Create(request) => &mut request.request_id,
            Self::Edit(request) => &mut request.request_id,
            Self::End(request) => &mut request.request_id,
            Self::Forget(request) => &mut request.request_id,
            Self::Fork(request) => &mut request.request_id,
            Self::Memorize(request) => &mut request.request_id,
            Self::Undo(request) => &mut request.request_id,
        } = id;
        self
    }

    /// The whole response, except for what only repeats the request.
    pub async fn send(&self, session: &Session) -> String {
        let (mut memory, mut conversations) = (session.memory(), session.conversations());
        let mut compactions = session.compactions();
        match self.clone() {
            Self::Compact(request) => whole(compactions.compact_conversation(request).await),
            Self::Create(request) => whole(conversations.create_conversation(request).await),
            Self::Edit(request) => whole(conversations.update_utterance(request).await),
            Self::End(request) => whole(conversations.end_conversation(request).await),
            Self::Forget(request) => {
                let mut answer = memory.forget(request).await;
                if let Ok(response) = &mut answer {
                    response.get_mut().understood_as.clear();
                }
                whole(answer)
            }
            Self::Fork(request) => whole(conversations.fork_conversation(request).await),
            Self::Memorize(request) => whole(memory.memorize(request).await),
            Self::Undo(request) => whole(compactions.undo_compaction(request).await),
        }
    }
}

/// A response with everything in it.
#[track_caller]
pub fn whole<T: Debug>(answer: Result<Response<T>, Status>) -> String {
    match answer {
        Ok(response) => format!("{:?}", response.into_inner()),
        Err(status) => panic!("{:?}: {}", status.code(), status.message()),
    }
}
