//! A context, and its parts.

use std::sync::Arc;

use crate::{
    ConversationId, Ranges, Role, ToolCall, Utterance,
    context::{
        content_parts::ContentParts,
        found::{Earlier, Found, Match},
        request::Format,
        warning::{Uncovered, Warning},
    },
};

/// What is sent to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The format to render it in; its messages are worded for that.
    pub format: Format,
    /// The messages, in order. Each result follows its call, or another result of the same calls.
    pub messages: Vec<Message>,
    /// The number of system messages at the head: instructions, and the summary unless it is a user message.
    pub head: usize,
    /// The number of messages at the head that will be the same in the next context of the same request, if
    /// utterances are only appended, and none is evicted, cut, cut anew or masked.
    pub stable: usize,
    /// Tokens of all messages. For [`Format::Text`] an upper bound; rendering counts it.
    pub tokens: u32,
    /// The budget that applied; `None` if it was unlimited.
    pub budget: Option<u32>,
    /// The utterances that a message quotes as recalled, in its order.
    pub recalled: Vec<Found>,
    /// The other conversations of which the context says how they ended, in its order.
    pub earlier: Vec<ConversationId>,
    /// The utterances that were left out, and why.
    pub omitted: Vec<(Omission, Ranges)>,
    /// Utterances and turns that limits leave out and no summary covers.
    pub uncovered: Uncovered,
    /// Warnings for the caller.
    pub warnings: Vec<Warning>,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The speaker's role.
    pub role: Role,
    /// The utterance that it renders; `None` for the context's own words.
    pub utterance: Option<Arc<Utterance>>,
    /// The text in place of the utterance's content.
    pub instead: Option<Box<str>>,
    /// Its content in the format, if that has more than text: see [`Content`](crate::context::Content).
    pub content_parts: Option<Arc<str>>,
    /// For a tool message: which of the latest calls it answers, from 0.
    pub answers: usize,
    /// How it was made.
    pub how: How,
    /// Its cost; see [`wording`](crate::context::wording).
    pub tokens: u32,
    /// Tokens of it that are left out before its text is cut: a model's thoughts, and what it has as it is stored.
    pub(super) beside: u32,
}

/// How a message was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// An unchanged utterance.
    Whole,
    /// The instructions that the caller gave.
    Given,
    /// A head instruction.
    Instruction,
    /// An important utterance, out of its place.
    Pinned,
    /// A tool result whose text is left out, or a message whose images are.
    Masked,
    /// A message that was cut down to its head and tail.
    Trimmed,
    /// The summary.
    Summary,
    /// How the recipient's earlier conversations ended.
    Earlier,
    /// The recalled utterances.
    Recalled,
    /// Replaces something that is missing: the result of a call, or a first user message.
    Placeholder,
}

/// Why an utterance is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Omission {
    /// It left the window; the summary covers it.
    Evicted,
    /// It does not fit the budget.
    Budget,
    /// It is from an older turn than the last ones asked for.
    MaxTurns,
    /// A call of its unit has no result.
    UnansweredCall,
    /// It is soft-forgotten.
    Forgotten,
    /// It is a tool result that answers no call.
    Aside,
    /// It has neither text nor calls.
    Empty,
    /// The format has no place for it.
    Format,
}

impl Message {
    /// Its text; empty if it only calls tools.
    pub fn text(&self) -> &str {
        match (&self.instead, &self.utterance) {
            (Some(text), _) => text,
            (None, Some(utterance)) => &utterance.content,
            (None, None) => "",
        }
    }

    /// Its content as the format's JSON, if that is sent unchanged.
    pub fn content_parts(&self) -> Option<&str> {
        self.content_parts.as_deref().filter(|_| self.instead.is_none())
    }

    /// The tools it calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.utterance.as_ref().map_or(&[], |utterance| utterance.tool_calls())
    }

    /// The speaker's name, if there is one.
    pub fn name(&self) -> Option<&str> {
        self.utterance.as_ref().filter(|_| !self.is_late_result())?.name()
    }

    /// Whether it is a late result, shown on the user's side.
    pub fn is_late_result(&self) -> bool {
        self.utterance.as_ref().is_some_and(|utterance| utterance.late().is_some())
    }

    /// Whether it is an utterance as it is stored.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self.how, How::Whole | How::Instruction | How::Pinned)
    }

    /// Whether it is a tool result, late or not.
    pub fn is_result(&self) -> bool {
        self.role == Role::Tool || self.is_late_result()
    }

    /// A message in the context's own words.
    pub fn own(role: Role, how: How, text: String, tokens: u32) -> Self {
        let instead = Some(text.into());
        Self { role, utterance: None, instead, content_parts: None, answers: 0, how, tokens, beside: 0 }
    }
}

/// What a context can render in addition to the text of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Archived<'a> {
    /// The pinned utterances of the archive, whole units, ascending.
    pub pinned: &'a [Arc<Utterance>],
    /// The newest utterances of the archive, whole units, ascending: shown with those of the window, as far as the
    /// budget has room for them.
    pub turns: &'a [Arc<Utterance>],
    /// The user utterance of the turn that [`asked_before`](crate::context::asked_before) names.
    pub asked: Option<&'a Arc<Utterance>>,
    /// How other conversations of the recipient ended, the newest first.
    pub earlier: &'a [Earlier],
    /// What a search found, best first. Utterances that the context contains anyway are skipped.
    pub recalled: &'a [Match],
    /// Content that has more than text.
    pub content_parts: Option<&'a ContentParts>,
}

/// Tokens of messages.
pub(super) fn tokens_of(messages: &[Message]) -> u64 {
    messages.iter().map(|message| u64::from(message.tokens)).sum()
}
