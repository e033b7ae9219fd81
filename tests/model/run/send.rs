//! Calls the services without a transport, and brings their responses into one form.

use prost::Message;
use tonic::{Request, Response, Status};
use tonic_types::StatusExt;
use utterd::{
    proto::{
        self, Capacity, ConversationFormat, Irregularity, MemorizeRequest, SummaryUpdate, UtteranceRef,
        compaction_service_server::CompactionService, conversation_service_server::ConversationService,
        memory_service_server::MemoryService,
    },
    rpc::Services,
};

use crate::naive::Call;

/// The response of a call; what the response does not have is empty.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub conversation_id: Option<String>,
    pub revision: Option<i64>,
    pub memorized: Vec<UtteranceRef>,
    /// For calls whose response has it.
    pub evicted: Option<Vec<UtteranceRef>>,
    pub forgotten: Vec<UtteranceRef>,
    pub restored: Vec<UtteranceRef>,
    /// For calls whose response has it.
    pub summary: Option<Option<SummaryUpdate>>,
    pub capacity: Option<Capacity>,
    pub started: Option<bool>,
    pub ended: Option<String>,
    pub replayed: bool,
    pub irregularities: Vec<Irregularity>,
    pub rebuilt_segments: Option<i32>,
    /// For calls whose response has it.
    pub conversation: Option<Option<proto::Conversation>>,
    /// For calls whose response has it.
    pub utterance: Option<Option<proto::Utterance>>,
    pub removed: Option<i32>,
    /// The forgotten messages.
    pub messages: Vec<proto::Message>,
    /// For calls whose response has it.
    pub compaction: Option<Option<proto::Compaction>>,
    /// For calls whose response has the text of the summary.
    pub told: Option<String>,
    /// The encoded response, without what the caller wrote itself, the summary and the utterance.
    pub wire: Vec<u8>,
}

/// Sends `call`.
pub async fn send(services: &Services, call: &Call) -> Result<Reply, Status> {
    Ok(match call.clone() {
        Call::Memorize(request, messages) => {
            let request = match messages {
                Some(messages) => as_messages(request, &messages),
                None => request,
            };
            memorized(services.memorize(Request::new(request)).await?)
        }
        Call::Forget(request, _) => forgotten(services.forget(Request::new(request)).await?),
        Call::Restore(request) => restored(services.restore(Request::new(request)).await?),
        Call::Mark(request) => marked(services.update_utterance(Request::new(request)).await?),
        Call::Update(request) => updated(services.update_conversation(Request::new(request)).await?),
        Call::Create(request) => {
            let response = services.create_conversation(Request::new(request)).await?.into_inner();
            let wire = response.encode_to_vec();
            let proto::CreateConversationResponse { conversation, replayed } = response;
            let conversation_id = conversation.as_ref().map(|one| one.conversation_id.clone());
            Reply { conversation_id, conversation: Some(conversation), replayed, wire, ..Reply::default() }
        }
        Call::Keep(request) => kept(services.update_state(Request::new(request)).await?),
        Call::Fork(request) => {
            let response = services.fork_conversation(Request::new(request)).await?.into_inner();
            let wire = response.encode_to_vec();
            let proto::ForkConversationResponse { conversation, capacity, replayed } = response;
            let conversation_id = conversation.as_ref().map(|one| one.conversation_id.clone());
            Reply {
                conversation_id,
                conversation: Some(conversation),
                capacity,
                replayed,
                wire,
                ..Reply::default()
            }
        }
        Call::Compact(request) => {
            let response = services.compact_conversation(Request::new(request)).await?.into_inner();
            let told = Some(response.summary);
            let response = proto::CompactConversationResponse { summary: String::new(), ..response };
            Reply {
                wire: response.encode_to_vec(),
                conversation_id: Some(response.conversation_id),
                revision: Some(response.revision),
                compaction: Some(response.compaction),
                told,
                capacity: response.capacity,
                replayed: response.replayed,
                ..Reply::default()
            }
        }
        Call::Undo(request) => {
            let response = services.undo_compaction(Request::new(request)).await?.into_inner();
            Reply {
                wire: response.encode_to_vec(),
                conversation_id: Some(response.conversation_id),
                revision: Some(response.revision),
                compaction: Some(response.compaction),
                restored: response.restored,
                capacity: response.capacity,
                replayed: response.replayed,
                ..Reply::default()
            }
        }
        Call::End(request) => {
            let response = services.end_conversation(Request::new(request)).await?.into_inner();
            let wire = response.encode_to_vec();
            let proto::EndConversationResponse { conversation, replayed } = response;
            let conversation_id = conversation.as_ref().map(|one| one.conversation_id.clone());
            Reply { conversation_id, conversation: Some(conversation), replayed, wire, ..Reply::default() }
        }
        Call::Delete(request) => {
            let response = services.delete_conversation(Request::new(request)).await?.into_inner();
            let removed = Some(response.utterance_count.unwrap_or(-1));
            Reply { removed, wire: response.encode_to_vec(), ..Reply::default() }
        }
    })
}

/// The same with messages instead of its utterances.
fn as_messages(request: MemorizeRequest, messages: &[String]) -> MemorizeRequest {
    let ids = request.utterances.iter().map(|said| said.utterance_id.clone());
    let has_ids = ids.clone().any(|id| !id.is_empty());
    MemorizeRequest {
        messages_json: format!("[{}]", messages.join(", ")),
        format: ConversationFormat::OpenaiChat.into(),
        message_ids: ids.filter(|_| has_ids).collect(),
        utterances: Vec::new(),
        ..request
    }
}

/// The reason that a refusal gives.
pub fn reason(status: &Status) -> String {
    match status.get_details_error_info() {
        Some(info) => info.reason,
        None => format!("no reason, but {status:?}"),
    }
}

fn memorized(response: Response<proto::MemorizeResponse>) -> Reply {
    let mut response = response.into_inner();
    let summary = Some(response.summary.take());
    Reply {
        wire: response.encode_to_vec(),
        conversation_id: Some(response.conversation_id),
        revision: Some(response.revision),
        memorized: response.memorized,
        forgotten: response.removed,
        evicted: Some(response.evicted),
        summary,
        capacity: response.capacity,
        started: Some(response.started_conversation),
        ended: Some(response.ended_conversation_id),
        replayed: response.replayed,
        irregularities: response.irregularities,
        ..Reply::default()
    }
}

fn forgotten(response: Response<proto::ForgetResponse>) -> Reply {
    let (understood_as, warnings) = Default::default(); // the caller's own words
    let mut response = proto::ForgetResponse { understood_as, warnings, ..response.into_inner() };
    let messages = std::mem::take(&mut response.messages);
    Reply {
        wire: response.encode_to_vec(),
        conversation_id: Some(response.conversation_id),
        revision: Some(response.revision),
        forgotten: response.forgotten,
        rebuilt_segments: response.rebuilt_segments,
        messages,
        capacity: response.capacity,
        replayed: response.replayed,
        ..Reply::default()
    }
}

fn restored(response: Response<proto::RestoreResponse>) -> Reply {
    let response = response.into_inner();
    Reply {
        wire: response.encode_to_vec(),
        conversation_id: Some(response.conversation_id),
        revision: Some(response.revision),
        restored: response.restored,
        evicted: Some(response.evicted),
        capacity: response.capacity,
        replayed: response.replayed,
        ..Reply::default()
    }
}

fn marked(response: Response<proto::UpdateUtteranceResponse>) -> Reply {
    let mut response = response.into_inner();
    let utterance = Some(response.utterance.take());
    Reply {
        wire: response.encode_to_vec(),
        revision: Some(response.revision),
        utterance,
        evicted: Some(response.evicted),
        replayed: response.replayed,
        ..Reply::default()
    }
}

fn kept(response: Response<proto::UpdateStateResponse>) -> Reply {
    let response = response.into_inner();
    Reply {
        wire: response.encode_to_vec(),
        conversation_id: Some(response.conversation_id),
        revision: Some(response.revision),
        replayed: response.replayed,
        ..Reply::default()
    }
}

fn updated(response: Response<proto::UpdateConversationResponse>) -> Reply {
    let mut response = response.into_inner();
    let summary = Some(response.summary.take());
    Reply {
        wire: response.encode_to_vec(),
        conversation: Some(response.conversation),
        evicted: Some(response.evicted),
        summary,
        capacity: response.capacity,
        replayed: response.replayed,
        ..Reply::default()
    }
}
