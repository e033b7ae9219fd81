//! Messages as a provider's API writes them: sent, listed, and returned when they are forgotten.

use tonic::Request;
use utterd::proto::{
    ListMessagesRequest, ListOrder, Message, NewUtterance, Operation, Role, Utterance,
    conversation_service_server::ConversationService,
};

use super::{Run, reads::MANY_PAGES, refusal};
use crate::{
    checks::same,
    commands::Listing,
    ensure,
    naive::{Conversation, says},
};

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

/// Writes the utterances as messages in OpenAI's chat format, each in one of several spellings, and removes
/// what it cannot express; `None` if one of them is not a message.
pub fn written(utterances: &mut [NewUtterance], style: u32) -> Option<Vec<String>> {
    let is_message = |said: &NewUtterance| match said.role() {
        Role::Unspecified => false,
        Role::Tool => !said.tool_call_id.is_empty() && !said.content.is_empty(),
        _ => !said.content.is_empty() || !said.tool_calls.is_empty(),
    };
    if !utterances.iter().all(is_message) {
        return None;
    }
    for said in utterances.iter_mut() {
        *said = NewUtterance {
            utterance_id: said.utterance_id.clone(),
            role: said.role,
            name: said.name.clone(),
            content: said.content.clone(),
            tool_calls: said.tool_calls.clone(),
            tool_call_id: said.tool_call_id.clone(),
            ..NewUtterance::default()
        };
    }
    Some((style..).zip(&*utterances).map(|(style, said)| message(said, style)).collect())
}

fn message(said: &NewUtterance, style: u32) -> String {
    let text = |text: &str| match style.is_multiple_of(3) {
        true => escaped(text),
        false => serde_json::Value::from(text).to_string(),
    };
    let role = match said.role() {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        _ => "tool",
    };
    let content = if said.content.is_empty() { "null".to_owned() } else { text(&said.content) };
    let mut fields = vec![("role", text(role)), ("content", content)];
    if !said.tool_calls.is_empty() {
        let call = |call: &utterd::proto::ToolCall| {
            let (id, name, arguments) = (text(&call.id), text(&call.name), text(&call.arguments_json));
            format!(r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#)
        };
        let calls: Vec<_> = said.tool_calls.iter().map(call).collect();
        fields.push(("tool_calls", format!("[{}]", calls.join(","))));
    }
    if !said.name.is_empty() {
        fields.push(("name", text(&said.name)));
    }
    if !said.tool_call_id.is_empty() {
        fields.push(("tool_call_id", text(&said.tool_call_id)));
    }
    if style.is_multiple_of(5) {
        fields.push(("x-own", "[1e400, -0.0]".to_owned()));
    }
    if style.is_multiple_of(2) {
        fields.reverse();
    }
    let (colon, comma) = if style.is_multiple_of(7) { (" : ", " ,\n ") } else { (":", ",") };
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\"{colon}{value}")).collect();
    format!("{{{}}}", fields.join(comma))
}

/// A JSON text in pure ASCII.
fn escaped(text: &str) -> String {
    let escape = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || b" .:/".contains(&byte) => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    format!("\"{}\"", text.encode_utf16().map(escape).collect::<String>())
}

/// Utterances without what is kept of their messages' bytes, which is up to the server.
pub fn unmarked(utterances: Vec<Utterance>, model: &Conversation) -> Vec<Utterance> {
    let unmarked = |mut said: Utterance| {
        let known = model.said.get(said.sequence as usize - 1);
        if known.is_some_and(|known| known.came.is_some()) {
            said.extras_json.clear();
        }
        said
    };
    utterances.into_iter().map(unmarked).collect()
}

/// Checks that the messages are these utterances, byte for byte as they came.
pub fn compare_texts(messages: &[Message], expected: &[i64], model: &Conversation) -> Result<(), String> {
    let expected: Vec<_> = expected.iter().map(|one| model.message(*one)).collect();
    let mut messages = messages.to_vec();
    for message in &mut messages {
        let known = model.said.get(message.sequence as usize - 1);
        if let Some(known) = known.filter(|known| known.came.is_none()) {
            says(&message.message_json, &known.what)?;
            message.message_json.clear();
        }
    }
    same("the messages", &messages, &expected)
}

pub fn request(
    (id, recipient): (&str, &str),
    listing: &Listing,
    model: &Conversation,
) -> ListMessagesRequest {
    let order = if listing.newest_first { ListOrder::NewestFirst } else { ListOrder::Unspecified };
    ListMessagesRequest {
        conversation_id: id.to_owned(),
        recipient_id: recipient.to_owned(),
        last: listing.last.map(|last| i32::from(last) + 1),
        after_sequence: listing.after.map(i64::from),
        before_sequence: listing.before.map(|before| i64::from(before) + 1),
        utterance_ids: listing.picks.iter().filter_map(|pick| model.any_id(*pick)).collect(),
        roles: listing.role.iter().map(|role| ROLES[usize::from(*role) % 4].into()).collect(),
        order: order.into(),
        skip: i32::from(listing.skip),
        page_size: i32::from(listing.page % 5) + 1,
        ..Default::default()
    }
}

impl Run {
    /// All pages of a list.
    pub(super) async fn messages(
        &mut self,
        mut request: ListMessagesRequest,
        model: &Conversation,
    ) -> Result<(), String> {
        let expected = model.listed_messages(&request);
        let mut listed = Vec::new();
        for _ in 0..MANY_PAGES {
            let response = self.services().list_messages(Request::new(request.clone())).await;
            let page = response.map_err(refusal)?.into_inner();
            self.expect_read(Operation::ListUtterances, model, page.messages.len())?;
            same("the revision of the messages", &page.revision, &model.revision)?;
            ensure!(page.messages.len() <= request.page_size as usize, "a page of {}", page.messages.len());
            listed.extend(page.messages);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return compare_texts(&listed, &expected, model);
            }
        }
        Err("the pages do not end".to_owned())
    }

    /// Every message of a conversation.
    pub(super) async fn all_messages(&mut self, model: &Conversation) -> Result<(), String> {
        let conversation_id = model.id.clone();
        let request = ListMessagesRequest { conversation_id, page_size: 1_000, ..Default::default() };
        self.messages(request, model).await
    }
}
