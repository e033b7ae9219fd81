//! What was said in a conversation, in the form of seed 000.

use std::mem::take;

use prost_types::Timestamp;
use serde_json::{Value, json};

use super::{bounds::cut, fault::Fault, memory::Memory};
use crate::{
    conversations::stored,
    terminal::{counted, text::role},
};
use utterd_rpc::proto::{ListUtterancesRequest, Role, Utterance, UtteranceState};

/// A part of what user and assistant said.
#[derive(Default)]
pub struct Transcript {
    /// The messages, the oldest first.
    pub messages: Vec<Value>,
    /// The number of the first message after this part; `None` if there is none.
    pub next: Option<usize>,
    first: usize,
    /// The bytes that are left.
    bytes: usize,
    /// Messages so far, including those before `first`.
    count: usize,
    /// Tools that were called since the last message.
    called: Vec<String>,
}

/// Reads a conversation from its message number `first` on, counting from 1: as many messages as fit in `bytes`, or as
/// much as fits of the first one.
pub async fn read(memory: &Memory, id: &str, first: usize, bytes: usize) -> Result<Transcript, Fault> {
    let mut request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        page_size: stored::PAGE_SIZE,
        ..Default::default()
    };
    let mut read = Transcript { first, bytes, ..Transcript::default() };
    loop {
        let page = memory.server.conversations().list_utterances(request.clone()).await?.into_inner();
        page.utterances.into_iter().for_each(|utterance| read.add(utterance));
        if page.next_page_token.is_empty() || read.next.is_some() {
            return Ok(read);
        }
        request.page_token = page.next_page_token;
    }
}

impl Transcript {
    /// Adds an utterance. Instructions and tool results are not messages; tools that were called belong to the
    /// assistant's next message.
    fn add(&mut self, mut utterance: Utterance) {
        if utterance.state() == UtteranceState::Forgotten || utterance.aside || self.next.is_some() {
            return;
        }
        match utterance.role() {
            Role::User => self.called.clear(),
            Role::Assistant => {
                self.called.extend(take(&mut utterance.tool_calls).into_iter().map(|it| it.name))
            }
            _ => return,
        }
        if utterance.content.is_empty() {
            return;
        }
        for tool in take(&mut self.called) {
            if !utterance.tools_used.contains(&tool) {
                utterance.tools_used.push(tool);
            }
        }
        self.count += 1;
        if self.count >= self.first {
            self.push(utterance);
        }
    }

    fn push(&mut self, mut said: Utterance) {
        let whole = said.content.len();
        if !self.messages.is_empty() && whole > self.bytes {
            self.next = Some(self.count);
            return;
        }
        if cut(&mut said.content, self.bytes) {
            said.content += &format!(" […] [cut off: {}]", counted(whole - self.bytes, "byte"));
        }
        self.bytes = self.bytes.saturating_sub(whole);
        let mut message = json!({
            "timestamp": written(said.create_time.as_ref()),
            "role": role(said.role()),
            "content": said.content,
        });
        if !said.tools_used.is_empty() {
            message["toolsUsed"] = json!(said.tools_used);
        }
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

    fn part(first: usize, bytes: usize) -> Transcript {
        let mut part = Transcript { first, bytes, ..Transcript::default() };
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

    fn contents(part: &Transcript) -> Vec<&str> {
        part.messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
    }

    #[test]
    fn a_transcript_is_what_user_and_assistant_said() {
        let part = part(1, 1_000);
        assert_eq!(contents(&part), ["Write a note.", "I have.", "Thanks.", "Bye."]);
        assert_eq!(part.messages[1]["toolsUsed"], json!(["write_file"]));
        assert!(part.messages[3]["toolsUsed"].is_null(), "a user's message ends what was called before");
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
