//! The calls of the cases.

use tonic::Response;
use tonic_types::StatusExt;
use utterd::{
    proto::{
        compaction_service_server::CompactionService, conversation_service_server::ConversationService,
        memory_service_server::MemoryService,
    },
    rpc::Services,
};

use crate::support::prelude::*;

/// A result as a case expects it.
pub trait Reply<T> {
    /// The response; fails on a refusal.
    fn reply(self) -> T;
    /// The reason of the refusal; fails on a response.
    fn reason(self) -> String;
}

impl<T: std::fmt::Debug> Reply<T> for Result<Response<T>, Status> {
    #[track_caller]
    fn reply(self) -> T {
        match self {
            Ok(response) => response.into_inner(),
            Err(status) => panic!("{status:?}"),
        }
    }

    #[track_caller]
    fn reason(self) -> String {
        match self {
            Ok(response) => panic!("not refused: {:?}", response.into_inner()),
            Err(status) => reason(&status),
        }
    }
}

/// The reason of a refusal.
pub fn reason(status: &Status) -> String {
    let info = status.get_details_error_info();
    info.unwrap_or_else(|| panic!("no reason: {status:?}")).reason
}

/// Something that a user says in the default recipient's conversation.
pub fn says(content: &str) -> MemorizeRequest {
    let said = NewUtterance { role: Role::User.into(), content: content.to_owned(), ..Default::default() };
    MemorizeRequest { utterances: vec![said], ..Default::default() }
}

/// The same in a conversation.
pub fn says_in(id: &str, content: &str) -> MemorizeRequest {
    MemorizeRequest { conversation_id: id.to_owned(), ..says(content) }
}

/// The same to a recipient.
pub fn says_to(recipient: &str, content: &str) -> MemorizeRequest {
    MemorizeRequest { recipient_id: recipient.to_owned(), ..says(content) }
}

pub async fn memorize(at: &Services, request: MemorizeRequest) -> Result<Response<MemorizeResponse>, Status> {
    at.memorize(Request::new(request)).await
}

pub async fn say(at: &Services, request: MemorizeRequest) -> MemorizeResponse {
    memorize(at, request).await.reply()
}

/// Everything that a conversation stores.
pub async fn stored(at: &Services, id: &str) -> Vec<Utterance> {
    let request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        include_forgotten: true,
        page_size: 1_000,
        ..Default::default()
    };
    at.list_utterances(Request::new(request)).await.reply().utterances
}

pub async fn sequences(at: &Services, id: &str) -> Vec<i64> {
    stored(at, id).await.iter().map(|utterance| utterance.sequence).collect()
}

pub async fn contents(at: &Services, id: &str) -> Vec<String> {
    stored(at, id).await.into_iter().map(|utterance| utterance.content).collect()
}

/// The sequences from 1 to `last`.
pub fn up_to(last: usize) -> Vec<i64> {
    (1..=last as i64).collect()
}

pub async fn capacity(at: &Services, id: &str) -> Capacity {
    let request = GetCapacityInfoRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.get_capacity_info(Request::new(request)).await.reply().capacity.expect("a capacity")
}

pub async fn get(at: &Services, id: &str) -> Conversation {
    let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.get_conversation(Request::new(request)).await.reply().conversation.expect("a conversation")
}

/// The reason why a conversation cannot be read.
pub async fn not_got(at: &Services, id: &str) -> String {
    let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.get_conversation(Request::new(request)).await.reason()
}

/// The ids of a recipient's conversations, the newest first.
pub async fn listed(at: &Services, recipient: &str) -> Vec<String> {
    let request = ListConversationsRequest {
        recipient_id: recipient.to_owned(),
        page_size: 1_000,
        ..Default::default()
    };
    let listed = at.list_conversations(Request::new(request)).await.reply().conversations;
    listed.into_iter().map(|conversation| conversation.conversation_id).collect()
}

pub async fn summary(at: &Services, id: &str) -> String {
    let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.get_summary(Request::new(request)).await.reply().text
}

/// The sequences that a search of a conversation finds, ascending.
pub async fn found(at: &Services, id: &str, prompt: &str) -> Vec<i64> {
    let request = RememberRequest {
        conversation_id: id.to_owned(),
        prompt: prompt.to_owned(),
        scope: RememberScope::Conversation.into(),
        page_size: 100,
        ..Default::default()
    };
    let matches = at.remember(Request::new(request)).await.reply().matches;
    let mut found: Vec<_> =
        matches.into_iter().filter_map(|one| one.utterance).map(|it| it.sequence).collect();
    found.sort_unstable();
    found
}

pub async fn forget(at: &Services, id: &str, instructions: &str, mode: ForgetMode) -> ForgetResponse {
    let request = ForgetRequest {
        conversation_id: id.to_owned(),
        instructions: instructions.to_owned(),
        mode: mode.into(),
        ..Default::default()
    };
    at.forget(Request::new(request)).await.reply()
}

/// Ends a conversation; the default recipient's without an id.
pub async fn end(at: &Services, id: &str) -> Conversation {
    let request = EndConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.end_conversation(Request::new(request)).await.reply().conversation.expect("a conversation")
}

/// Forks a conversation under this id.
pub async fn fork(at: &Services, id: &str, new: &str) {
    let request = ForkConversationRequest {
        conversation_id: id.to_owned(),
        new_conversation_id: new.to_owned(),
        ..Default::default()
    };
    at.fork_conversation(Request::new(request)).await.reply();
}

pub async fn compact(at: &Services, id: &str, keep: i32) -> CompactConversationResponse {
    let request = CompactConversationRequest {
        conversation_id: id.to_owned(),
        keep_recent: Some(keep),
        ..Default::default()
    };
    at.compact_conversation(Request::new(request)).await.reply()
}

pub async fn undo(at: &Services, id: &str) -> Result<Response<UndoCompactionResponse>, Status> {
    let request = UndoCompactionRequest { conversation_id: id.to_owned(), ..Default::default() };
    at.undo_compaction(Request::new(request)).await
}
