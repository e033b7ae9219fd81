//! Calls that can change something.

use utterd::proto::{
    CompactConversationRequest, CreateConversationRequest, DeleteConversationRequest, EndConversationRequest,
    ForgetMode, ForgetRequest, ForkConversationRequest, MemorizeRequest, Operation, RestoreRequest,
    StateScope, UndoCompactionRequest, UpdateConversationRequest, UpdateStateRequest, UpdateUtteranceRequest,
};

use super::Selection;

/// A call that can change something.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// With the messages that the utterances are sent as, if any.
    Memorize(MemorizeRequest, Option<Vec<String>>),
    /// With the meaning of the instruction, if it has one.
    Forget(ForgetRequest, Option<Selection>),
    Restore(RestoreRequest),
    Mark(UpdateUtteranceRequest),
    Update(UpdateConversationRequest),
    Create(CreateConversationRequest),
    Keep(UpdateStateRequest),
    Fork(ForkConversationRequest),
    Compact(CompactConversationRequest),
    Undo(UndoCompactionRequest),
    End(EndConversationRequest),
    Delete(DeleteConversationRequest),
}

impl Call {
    /// The conversation id and the recipient id that it gives.
    pub fn address(&self) -> (&str, &str) {
        match self {
            Self::Memorize(request, _) => (&request.conversation_id, &request.recipient_id),
            Self::Forget(request, _) => (&request.conversation_id, &request.recipient_id),
            Self::Restore(request) => (&request.conversation_id, &request.recipient_id),
            Self::Mark(request) => (&request.conversation_id, &request.recipient_id),
            Self::Update(request) => (&request.conversation_id, &request.recipient_id),
            Self::Create(request) => (&request.conversation_id, &request.recipient_id),
            Self::Keep(request) => (&request.conversation_id, &request.recipient_id),
            Self::Fork(request) => (&request.conversation_id, &request.recipient_id),
            Self::Compact(request) => (&request.conversation_id, &request.recipient_id),
            Self::Undo(request) => (&request.conversation_id, &request.recipient_id),
            Self::End(request) => (&request.conversation_id, &request.recipient_id),
            Self::Delete(request) => (&request.conversation_id, ""),
        }
    }

    /// Whether it only changes a recipient's own state.
    pub fn keeps_own(&self) -> bool {
        matches!(self, Self::Keep(request) if request.scope() == StateScope::Recipient)
    }

    pub fn request_id(&self) -> &str {
        match self {
            Self::Memorize(request, _) => &request.request_id,
            Self::Forget(request, _) => &request.request_id,
            Self::Restore(request) => &request.request_id,
            Self::Mark(request) => &request.request_id,
            Self::Update(request) => &request.request_id,
            Self::Create(request) => &request.request_id,
            Self::Keep(request) => &request.request_id,
            Self::Fork(request) => &request.request_id,
            Self::Compact(request) => &request.request_id,
            Self::Undo(request) => &request.request_id,
            Self::End(request) => &request.request_id,
            Self::Delete(_) => "",
        }
    }

    pub fn operation(&self) -> Operation {
        match self {
            Self::Memorize(..) => Operation::Memorize,
            Self::Forget(request, _) if request.mode() == ForgetMode::Hard => Operation::Erase,
            Self::Forget(..) => Operation::Forget,
            Self::Restore(_) => Operation::Restore,
            Self::Mark(_) => Operation::UpdateUtterance,
            Self::Update(_) => Operation::UpdateConversation,
            Self::Create(_) => Operation::CreateConversation,
            Self::Keep(_) => Operation::UpdateState,
            Self::Fork(_) => Operation::ForkConversation,
            Self::Compact(_) => Operation::CompactConversation,
            Self::Undo(_) => Operation::UndoCompaction,
            Self::End(_) => Operation::EndConversation,
            Self::Delete(_) => Operation::DeleteConversation,
        }
    }

    pub fn same_rpc(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
