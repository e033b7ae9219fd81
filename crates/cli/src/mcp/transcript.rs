//! Conversations in the form of seed 000: times, a title, a summary, and what user and assistant said.

use std::mem::take;

use prost_types::Timestamp;
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use super::{bounds::cut, fault::Fault, memory::Memory};
use crate::{conversations::stored, terminal::counted};
use utterd_rpc::proto::{Conversation, ListUtterancesRequest, Role, Utterance, UtteranceState};

/// A conversation without its messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its title, in 5 to 8 words; null until it ends.
    pub title: Option<String>,
    /// What it was about and what came of it; null until it ends.
    pub summary: Option<String>,
    /// When it started, ISO 8601.
    pub started_at: String,
    /// When it ended, ISO 8601; null until then.
    pub ended_at: Option<String>,
    /// How many of its messages are stored, including tool results and instructions.
    pub message_count: i64,
}

impl From<&Conversation> for Listed {
    fn from(conversation: &Conversation) -> Self {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            id: conversation.conversation_id.clone(),
            title: some(&conversation.title),
            summary: some(&conversation.closing_summary),
            started_at: written(conversation.start_time.as_ref()),
            ended_at: conversation.end_time.as_ref().map(ToString::to_string),
            message_count: conversation.utterance_count().into(),
        }
    }
}

/// What a user or an assistant said.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// When it was said, ISO 8601.
    pub timestamp: String,
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    pub content: String,
    /// The tools that the assistant used for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_used: Vec<String>,
}

/// A speaker in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    User,
    Assistant,
}

/// A part of a conversation.
pub struct Transcript {
    /// The conversation.
    pub conversation: Conversation,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// The number of the first message after this part; `None` if there is none.
    pub next: Option<usize>,
}

/// Reads a conversation from its message number `first` on, counting from 1: as many messages as fit in `bytes`, or as
/// much as fits of the first one.
pub async fn read(memory: &Memory, id: &str, first: usize, bytes: usize) -> Result<Transcript, Fault> {
    let conversation = stored::conversation(&memory.server, id, "").await?;
    let mut request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        page_size: stored::PAGE_SIZE,
        ..Default::default()
    };
    let mut part = Part { first, bytes, ..Part::default() };
    loop {
        let page = memory.server.conversations().list_utterances(request.clone()).await?.into_inner();
        page.utterances.into_iter().for_each(|utterance| part.add(utterance));
        if page.next_page_token.is_empty() || part.next.is_some() {
            return Ok(Transcript { conversation, messages: part.messages, next: part.next });
        }
        request.page_token = page.next_page_token;
    }
}

/// A part of a transcript under construction.
#[derive(Default)]
struct Part {
    first: usize,
    /// The bytes that are left.
    bytes: usize,
    /// Messages so far, including those before `first`.
    count: usize,
    /// Tools that were called since the last message.
    called: Vec<String>,
    messages: Vec<Message>,
    next: Option<usize>,
}

impl Part {
    /// Adds an utterance. Instructions and tool results are not messages; tools that were called belong to the
    /// assistant's next message.
    fn add(&mut self, utterance: Utterance) {
        if utterance.state() == UtteranceState::Forgotten || utterance.aside || self.next.is_some() {
            return;
        }
        let role = match utterance.role() {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            _ => return,
        };
        match role {
            Speaker::User => self.called.clear(),
            Speaker::Assistant => {
                self.called.extend(utterance.tool_calls.iter().map(|call| call.name.clone()));
            }
        }
        if !utterance.content.is_empty() {
            let tools_used = self.used(role, utterance.tools_used);
            let timestamp = written(utterance.create_time.as_ref());
            self.push(Message { timestamp, role, content: utterance.content, tools_used });
        }
    }

    fn used(&mut self, role: Speaker, mut tools: Vec<String>) -> Vec<String> {
        if role == Speaker::Assistant {
            for tool in take(&mut self.called) {
                if !tools.contains(&tool) {
                    tools.push(tool);
                }
            }
        }
        tools
    }

    fn push(&mut self, mut message: Message) {
        self.count += 1;
        if self.count < self.first {
            return;
        }
        if !self.messages.is_empty() && message.content.len() > self.bytes {
            self.next = Some(self.count);
            return;
        }
        let whole = message.content.len();
        if cut(&mut message.content, self.bytes) {
            message.content += &format!(" […] [cut off: {}]", counted(whole - self.bytes, "byte"));
        }
        self.bytes = self.bytes.saturating_sub(whole);
        self.messages.push(message);
    }
}

/// A time in ISO 8601; empty if there is none.
pub fn written(time: Option<&Timestamp>) -> String {
    time.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::ToolCall;

    fn said(role: Role, content: &str, calls: &[&str]) -> Utterance {
        let call = |name: &&str| ToolCall { name: (*name).to_owned(), ..Default::default() };
        Utterance {
            role: role.into(),
            content: content.to_owned(),
            tool_calls: calls.iter().map(call).collect(),
            ..Default::default()
        }
    }

    fn part(first: usize, bytes: usize) -> Part {
        let mut part = Part { first, bytes, ..Part::default() };
        for utterance in [
            said(Role::System, "Be brief.", &[]),
            said(Role::User, "Write a note.", &[]),
            said(Role::Assistant, "", &["write_file", "write_file"]),
            said(Role::Tool, "written", &[]),
            said(Role::Assistant, "I have.", &[]),
            Utterance { state: UtteranceState::Forgotten.into(), ..said(Role::User, "A secret.", &[]) },
            said(Role::Assistant, "", &["lookup"]),
            said(Role::User, "Thanks.", &[]),
            said(Role::Assistant, "Bye.", &[]),
        ] {
            part.add(utterance);
        }
        part
    }

    fn contents(part: &Part) -> Vec<&str> {
        part.messages.iter().map(|message| &*message.content).collect()
    }

    #[test]
    fn a_transcript_is_what_user_and_assistant_said() {
        let part = part(1, 1_000);
        assert_eq!(contents(&part), ["Write a note.", "I have.", "Thanks.", "Bye."]);
        assert_eq!(part.messages[1].tools_used, ["write_file"]);
        assert!(part.messages[3].tools_used.is_empty(), "a user's message ends what was called before");
        assert_eq!(part.next, None);
    }

    #[test]
    fn a_part_ends_where_its_bytes_do_and_says_what_follows() {
        let first = part(1, 20);
        assert_eq!((contents(&first), first.next), (vec!["Write a note.", "I have."], Some(3)));
        let rest = part(3, 20);
        assert_eq!((contents(&rest), rest.next), (vec!["Thanks.", "Bye."], None));
        let least = part(2, 6);
        assert_eq!((contents(&least), least.next), (vec!["I have […] [cut off: 1 byte]"], Some(3)));
    }
}
