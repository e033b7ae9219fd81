//! An utterance: one message of a conversation.

use std::{collections::BTreeMap, fmt};

use crate::{
    LineageId, Role, Sequence, Timestamp, UtteranceId,
    exchange::LateResult,
    limits::UTTERANCE_BYTES,
    recall::Said,
    values::memory::{self, allocated},
};

/// The memory for finding an utterance by its client-given id, in addition to the id.
const GIVEN_ID: usize = 112;
/// The memory of a tool call, in addition to its texts.
const TOOL_CALL: usize = size_of::<ToolCall>() + 32;

/// One stored message. Immutable: a change of its marks stores it again.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Utterance {
    /// Its place in the conversation.
    pub sequence: Sequence,
    /// The sequence of the first utterance of its unit: an exchange, or itself.
    pub unit: Sequence,
    /// When the server received it, or the time that the caller gave.
    pub create_time: Timestamp,
    /// The turn it belongs to; 0 before the first user utterance.
    pub turn: u32,
    /// Its cost in an OpenAI-style request; see [`Draft::tokens`](crate::Draft::tokens).
    pub tokens: u32,
    /// Its id in the conversation.
    pub id: UtteranceId,
    /// The speaker's role.
    pub role: Role,
    /// Soft-forgotten: keeps its slot, counts no tokens, is never shown.
    pub forgotten: bool,
    /// Important: eviction skips it.
    pub pinned: bool,
    /// A system utterance at the head of the conversation: it is never evicted.
    pub instruction: bool,
    /// A tool result without a call, accepted leniently: keeps its slot, counts no tokens.
    pub aside: bool,
    /// The text.
    pub content: Box<str>,
    /// Fields that most utterances do not have.
    pub more: Option<Box<More>>,
}

/// The parts of an utterance that plain text does not need.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct More {
    /// The participant or the tool.
    pub name: Option<Box<str>>,
    /// The tools that an assistant utterance calls.
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a tool utterance answers.
    pub tool_call_id: Option<Box<str>>,
    /// Tools used in making an assistant utterance (seed 000, `toolsUsed`).
    pub tools_used: Vec<Box<str>>,
    /// The caller's own notes.
    pub metadata: BTreeMap<String, String>,
    /// Whether the assistant waits for the user's answer.
    pub awaits_answer: bool,
    /// What a provider's format carries beyond this model, as JSON.
    pub extras_json: Option<Box<str>>,
    /// The tokens that the caller declares for `extras_json`.
    pub extras_tokens: u32,
    /// The content before it was edited; `None` if it never was.
    pub original: Option<Original>,
    /// The call that a late tool result answers; `None` for any other utterance.
    pub late: Option<LateResult>,
    /// Whether it was part of the same message as the utterance before it.
    pub continues: bool,
}

/// An edited utterance's original content.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Original {
    /// The first content, however often it was edited since.
    pub content: Box<str>,
    /// The time of the last edit.
    pub edit_time: Timestamp,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolCall {
    /// Links the call to its result; may recur within a conversation.
    pub id: Box<str>,
    /// The tool.
    pub name: Box<str>,
    /// Its arguments, as the model wrote them.
    pub arguments_json: Box<str>,
}

impl<'a> From<&'a Utterance> for Said<'a> {
    fn from(utterance: &'a Utterance) -> Self {
        let calls = utterance.tool_calls().iter();
        Self {
            sequence: utterance.sequence.get(),
            role: utterance.role,
            name: utterance.name().unwrap_or_default(),
            minute: utterance.create_time.minute(),
            content: &utterance.content,
            calls: calls.map(|call| (&*call.name, &*call.arguments_json)).collect(),
        }
    }
}

impl UtteranceId {
    /// The id as text, of the utterance with this sequence.
    pub fn text(&self, sequence: Sequence) -> String {
        match self {
            Self::Given(id) => id.to_string(),
            Self::Assigned(lineage) => AssignedId(*lineage, sequence).text(),
        }
    }
}

impl Utterance {
    /// Whether it is in use: neither soft-forgotten nor a tool result without a call. Only live utterances
    /// count tokens and turns, are rendered and are summarised.
    pub fn is_live(&self) -> bool {
        !self.forgotten && !self.aside
    }

    /// Whether it is in one unit with what the assistant says next: it has neither words nor calls, but what a provider
    /// keeps of a message that follows, such as a reasoning item, which the Responses API takes only with that message.
    pub fn leads(&self) -> bool {
        let is_empty = self.content.is_empty() && self.tool_calls().is_empty();
        self.role == Role::Assistant && is_empty
    }

    /// The tokens that it counts in the window.
    pub fn counted_tokens(&self) -> u32 {
        if self.is_live() { self.tokens } else { 0 }
    }

    /// Bytes of its original content in a provider's format.
    pub fn extras_bytes(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.extras_bytes())
    }

    /// The participant or the tool.
    pub fn name(&self) -> Option<&str> {
        self.more.as_ref()?.name.as_deref()
    }

    /// The tools it calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.more.as_ref().map_or(&[], |more| &more.tool_calls)
    }

    /// Whether it can be part of an exchange.
    pub fn takes_part_in_calls(&self) -> bool {
        self.role == Role::Tool || !self.tool_calls().is_empty()
    }

    /// The id of the call it answers.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.more.as_ref()?.tool_call_id.as_deref()
    }

    /// The call it answers, if it is a late result.
    pub fn late(&self) -> Option<&LateResult> {
        self.more.as_ref()?.late.as_ref()
    }

    /// Whether it was part of the same message as the utterance said before it.
    pub fn continues(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.continues)
    }

    /// Whether it was part of the same message as `before`.
    pub fn continues_after(&self, before: &Self) -> bool {
        self.continues() && before.sequence.next() == self.sequence
    }

    /// Whether the assistant waits for an answer to it.
    pub fn awaits_answer(&self) -> bool {
        !self.forgotten && self.more.as_ref().is_some_and(|more| more.awaits_answer)
    }

    /// The id that the client gave, if any.
    pub fn given_id(&self) -> Option<&str> {
        match &self.id {
            UtteranceId::Given(id) => Some(id),
            UtteranceId::Assigned(_) => None,
        }
    }

    /// The id as text.
    pub fn id_text(&self) -> String {
        self.id.text(self.sequence)
    }

    /// The approximate memory in bytes: the record, its pointer, the allocator, the text.
    pub fn memory_bytes(&self) -> usize {
        let id = self.given_id().map_or(0, |id| GIVEN_ID + 2 * allocated(id.len()));
        let more = self.more.as_deref().map_or(0, More::memory_bytes);
        size_of::<Self>() + 48 + allocated(self.content.len()) + id + more
    }

    /// The maximum size in an answer: the texts, each with its tag and length, and the numbers.
    pub fn answer_bytes(&self) -> usize {
        const TEXT: usize = 8;
        let parts = |more: &More| 4 * more.tool_calls.len() + more.tools_used.len() + 3 * more.metadata.len();
        let parts = self.more.as_deref().map_or(0, parts);
        256 + self.given_id().map_or(0, str::len) + TEXT * parts + self.text_bytes()
    }

    /// The bytes it counts for in storage limits, which depend only on the utterance: those of its texts, and
    /// [`UTTERANCE_BYTES`].
    pub fn stored_bytes(&self) -> u64 {
        UTTERANCE_BYTES + (self.given_id().map_or(0, str::len) + self.text_bytes()) as u64
    }

    /// Bytes of its texts, metadata included.
    pub fn text_bytes(&self) -> usize {
        self.content.len() + self.more.as_ref().map_or(0, |more| more.text_bytes())
    }
}

impl More {
    /// Bytes of tool-call arguments and extras.
    pub fn content_bytes(&self) -> usize {
        let calls: usize = self.tool_calls.iter().map(|call| call.arguments_json.len()).sum();
        calls + self.extras_bytes()
    }

    fn extras_bytes(&self) -> usize {
        self.extras_json.as_ref().map_or(0, |json| json.len())
    }

    fn memory_bytes(&self) -> usize {
        let text = |text: &str| allocated(text.len());
        let optional = |optional: &Option<Box<str>>| optional.as_deref().map_or(0, text);
        let call =
            |call: &ToolCall| TOOL_CALL + text(&call.id) + text(&call.name) + text(&call.arguments_json);
        allocated(size_of::<Self>())
            + self.tool_calls.iter().map(call).sum::<usize>()
            + self.tools_used.iter().map(|tool| size_of::<Box<str>>() + text(tool)).sum::<usize>()
            + memory::map(&self.metadata)
            + optional(&self.name)
            + optional(&self.tool_call_id)
            + optional(&self.extras_json)
            + self.original.as_ref().map_or(0, |original| text(&original.content))
            + self.late.as_ref().map_or(0, |late| text(&late.tool))
    }

    fn text_bytes(&self) -> usize {
        let optional = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let call = |call: &ToolCall| call.id.len() + call.name.len() + call.arguments_json.len();
        let calls: usize = self.tool_calls.iter().map(call).sum();
        let tools: usize = self.tools_used.iter().map(|tool| tool.len()).sum();
        let notes: usize = self.metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
        calls
            + tools
            + notes
            + optional(&self.name)
            + optional(&self.tool_call_id)
            + optional(&self.extras_json)
            + self.original.as_ref().map_or(0, |original| original.content.len())
            + self.late.as_ref().map_or(0, |late| late.tool.len())
    }
}

/// An id made by the server: `LINEAGE-SEQUENCE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssignedId(pub LineageId, pub Sequence);

impl AssignedId {
    /// The id as text, with one allocation.
    pub fn text(self) -> String {
        let mut text = String::with_capacity(48);
        text.push_str(str::from_utf8(&self.0.digits()).unwrap_or_default());
        text.push('-');
        text.push_str(itoa::Buffer::new().format(self.1.0));
        text
    }

    /// The sequence, if `text` is an id that `lineage` assigns.
    pub fn sequence_of(text: &str, lineage: LineageId) -> Option<Sequence> {
        let (prefix, sequence) = text.rsplit_once('-')?;
        let sequence = Sequence(sequence.parse().ok()?);
        (prefix == lineage.to_string() && Self(lineage, sequence).to_string() == text).then_some(sequence)
    }
}

impl fmt::Display for AssignedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::said;

    fn with(more: Option<More>, id: UtteranceId) -> usize {
        Utterance { id, more: more.map(Box::new), ..said(1, Role::Assistant, "x") }.memory_bytes()
    }

    /// Parts of a few bytes take many times as much memory; these sizes were measured in a store full of
    /// them.
    #[test]
    fn small_parts_are_counted_as_what_they_take() {
        let own = || UtteranceId::Assigned(LineageId([1; 16]));
        let plain = with(None, own());
        assert!((120..160).contains(&plain), "{plain}");
        let given = with(None, UtteranceId::Given("1".into()));
        assert!(given >= plain + 100, "{given}");
        let metadata = (0..64).map(|key| (format!("k{key}"), String::new())).collect();
        let noted = with(Some(More { metadata, ..More::default() }), own());
        assert!(noted >= plain + 64 * 60, "{noted}");
        let call = ToolCall { id: "1".into(), name: "n".into(), arguments_json: "{}".into() };
        let calling = with(Some(More { tool_calls: vec![call; 256], ..More::default() }), own());
        assert!(calling >= plain + 256 * 72, "{calling}");
        let using = with(Some(More { tools_used: vec!["a".into(); 256], ..More::default() }), own());
        assert!(using >= plain + 256 * 24, "{using}");
    }
}
