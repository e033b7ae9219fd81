//! Messages: one that came as a message comes back byte for byte; one that came as an utterance, as the
//! server writes it.

use serde_json::Value;
use utterd::proto::{
    ConversationFormat, ListMessagesRequest, ListOrder, Message, NewUtterance, Role, UtteranceState,
};

use super::{Conversation, Home, reading::time};

impl Conversation {
    /// An utterance as a message; without a text if it did not come as one.
    pub fn message(&self, sequence: i64) -> Message {
        let said = self.get(sequence);
        let state = match (said.forgotten, said.home) {
            (true, _) => UtteranceState::Forgotten,
            (false, Home::Window) => UtteranceState::Live,
            (false, _) => UtteranceState::Evicted,
        };
        Message {
            message_json: said.came.clone().unwrap_or_default(),
            format: ConversationFormat::OpenaiChat.into(),
            utterance_id: said.id.clone(),
            sequence,
            utterance_count: Some(1),
            role: said.what.role,
            turn_number: Some(said.turn),
            create_time: Some(time(said.time)),
            state: state.into(),
        }
    }

    /// What ListMessages returns, over all pages.
    pub fn listed_messages(&self, request: &ListMessagesRequest) -> Vec<i64> {
        let mut listed = self.sequences(|said| {
            said.is_stored()
                && !said.forgotten
                && (request.roles.is_empty() || request.roles.contains(&said.what.role))
                && (request.utterance_ids.is_empty() || request.utterance_ids.contains(&said.id))
        });
        listed.retain(|one| request.after_sequence.is_none_or(|after| *one > after));
        listed.retain(|one| request.before_sequence.is_none_or(|before| *one < before));
        if let Some(last) = request.last {
            listed = listed.split_off(listed.len().saturating_sub(last as usize));
        }
        if request.order() == ListOrder::NewestFirst {
            listed.reverse();
        }
        listed.split_off(listed.len().min(request.skip as usize))
    }
}

/// An error unless a message in OpenAI's chat format says the same as an utterance.
pub fn says(json: &str, what: &NewUtterance) -> Result<(), String> {
    let message: Value = serde_json::from_str(json).map_err(|error| format!("{error}: {json}"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = |call: &Value| {
        let function = &call["function"];
        [text(&call["id"]), text(&function["name"]), text(&function["arguments"])]
    };
    let calls: Vec<_> = message["tool_calls"].as_array().into_iter().flatten().map(call).collect();
    let made = |call: &utterd::proto::ToolCall| {
        let utterd::proto::ToolCall { id, name, arguments_json } = call.clone();
        [id, name, arguments_json]
    };
    let role = match what.role() {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        _ => "tool",
    };
    let said = [text(&message["role"]), text(&message["content"]), text(&message["tool_call_id"])];
    let is_same = said == [role.to_owned(), what.content.clone(), what.tool_call_id.clone()]
        && text(&message["name"]) == what.name
        && calls == what.tool_calls.iter().map(made).collect::<Vec<_>>();
    if is_same { Ok(()) } else { Err(format!("{json}\ndoes not say {what:?}")) }
}
