//! The requests. They are encoded once, so that the client's work is the same for all.

use bytes::Bytes;
use prost::Message;
use utterd::proto::{
    BuildContextRequest, CreateConversationRequest, GetCapacityInfoRequest, ListUtterancesRequest,
    MemorizeRequest, MemorizeStreamRequest, NewUtterance, Policy, PolicyPreset, Role,
};

/// Utterances of about 120 bytes, like those of people and agents.
const SAYINGS: [&str; 5] = [
    "Could you move my flight HAT136 from New York to Chicago on May 23 to the morning, and keep the window seat please?",
    "I found two options on 2024-05-23: HAT045 at 07:00 for $221 and HAT227 at 09:30 for $198, both with one stop in Denver.",
    "The build fails in src/engine/lane.rs:118 with error E0382, because `ticket` is moved into the closure before the loop.",
    "Thanks. Please take the cheaper one and charge the difference to gift_card_8887175, then send me the new confirmation.",
    "I have updated reservation 4WQ150: one passenger, economy, no insurance; the refund of $23 arrives in 5 to 7 days.",
];

/// The calls, by path.
pub const MEMORIZE: &str = "/utterd.v1.MemoryService/Memorize";
pub const MEMORIZE_STREAM: &str = "/utterd.v1.MemoryService/MemorizeStream";
pub const GET_CAPACITY: &str = "/utterd.v1.MemoryService/GetCapacityInfo";
pub const LIST: &str = "/utterd.v1.ConversationService/ListUtterances";
pub const BUILD_CONTEXT: &str = "/utterd.v1.ContextService/BuildContext";
pub const CREATE: &str = "/utterd.v1.ConversationService/CreateConversation";

/// The mean text length of an utterance in bytes.
pub fn mean_text_bytes() -> f64 {
    SAYINGS.iter().map(|text| text.len()).sum::<usize>() as f64 / SAYINGS.len() as f64
}

/// A message as it is sent.
pub fn encoded(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

fn utterance(index: usize) -> NewUtterance {
    let role = if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
    NewUtterance {
        role: role.into(),
        content: SAYINGS[index % SAYINGS.len()].to_owned(),
        ..Default::default()
    }
}

fn memorize_request(conversation: &str, first: usize, count: usize) -> MemorizeRequest {
    MemorizeRequest {
        conversation_id: conversation.to_owned(),
        utterances: (first..first + count).map(utterance).collect(),
        ..Default::default()
    }
}

pub fn memorize(conversation: &str, first: usize, count: usize) -> Bytes {
    encoded(&memorize_request(conversation, first, count))
}

/// The same to the active conversation of a recipient.
pub fn memorize_by_recipient(recipient: &str, first: usize, count: usize) -> Bytes {
    let recipient_id = recipient.to_owned();
    encoded(&MemorizeRequest { recipient_id, ..memorize_request("", first, count) })
}

/// Messages in OpenAI's format, as frameworks send them.
pub fn memorize_json(conversation: &str, count: usize) -> Bytes {
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        serde_json::json!({ "role": role, "content": SAYINGS[index % SAYINGS.len()] })
    };
    encoded(&MemorizeRequest {
        conversation_id: conversation.to_owned(),
        messages_json: serde_json::Value::from_iter((0..count).map(message)).to_string(),
        ..Default::default()
    })
}

pub fn memorize_message(conversation: &str, first: usize, combine_responses: bool) -> Bytes {
    let memorize = Some(memorize_request(conversation, first, 1));
    encoded(&MemorizeStreamRequest { memorize, combine_responses })
}

pub fn create(conversation: &str, preset: PolicyPreset) -> Bytes {
    encoded(&CreateConversationRequest {
        conversation_id: conversation.to_owned(),
        policy: Some(Policy { preset: preset.into(), ..Default::default() }),
        ..Default::default()
    })
}

pub fn get_capacity(conversation: &str) -> Bytes {
    encoded(&GetCapacityInfoRequest { conversation_id: conversation.to_owned(), ..Default::default() })
}

pub fn list(conversation: &str) -> Bytes {
    encoded(&ListUtterancesRequest { conversation_id: conversation.to_owned(), ..Default::default() })
}

pub fn build_context(conversation: &str, token_budget: Option<i32>) -> Bytes {
    let conversation_id = conversation.to_owned();
    // from the many turns of a long window, as many as fit
    let max_turns = token_budget.map(|_| 0);
    encoded(&BuildContextRequest { conversation_id, token_budget, max_turns, ..Default::default() })
}
