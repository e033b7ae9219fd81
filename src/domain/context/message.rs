//! A context, and what is in it.

use std::sync::Arc;

use crate::domain::{
    Ranges, Role, ToolCall, Utterance,
    context::{
        content_parts::ContentParts,
        found::{Found, Match},
        request::Format,
        warning::{Uncovered, Warning},
    },
};

/// What goes to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// What it is to be rendered as; its messages are worded for that.
    pub format: Format,
    /// The messages, in order. Each result follows its call, or another result of the same calls.
    pub messages: Vec<Message>,
    /// So many messages at the head are the system's: instructions, and the summary unless it is a
    /// user's message.
    pub head: usize,
    /// So many messages at the head will be the same in the next context of the same request, when
    /// utterances are only appended, and none is evicted, cut or masked.
    pub stable: usize,
    /// Tokens of all messages. For [`Format::Text`] an upper bound; rendering counts it.
    pub tokens: u32,
    /// The budget that held; `None` when it was unlimited.
    pub budget: Option<u32>,
    /// The utterances that a message recalls, in its order.
    pub recalled: Vec<Found>,
    /// What was left out, and why.
    pub omitted: Vec<(Omission, Ranges)>,
    /// What limits leave out that no summary covers.
    pub uncovered: Uncovered,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The utterance that it renders; `None` for the context's own words.
    pub utterance: Option<Arc<Utterance>>,
    /// What it says instead of the utterance's content.
    pub instead: Option<Box<str>>,
    /// Its content as it came in the format, where that holds more than text: see
    /// [`ContentParts`](crate::domain::context::ContentParts).
    pub content_parts: Option<Arc<str>>,
    /// For a tool's: which of the calls made last it answers, from 0.
    pub answers: usize,
    /// How it came about.
    pub how: How,
    /// Its cost; see [`wording`](crate::domain::context::wording).
    pub tokens: u32,
}

/// How a message came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// An utterance as it was said.
    Whole,
    /// The instructions that the caller gave.
    Given,
    /// A head instruction.
    Instruction,
    /// An important utterance, away from its place.
    Pinned,
    /// A tool result whose text is left out.
    Masked,
    /// A tool result that keeps its head and its tail.
    Trimmed,
    /// The summary.
    Summary,
    /// What was recalled.
    Recalled,
    /// Stands for what is missing: the result of a call, or a first user's message.
    Placeholder,
}

/// Why an utterance is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Omission {
    /// It left the window; the summary stands for it.
    Evicted,
    /// It does not fit the budget.
    Budget,
    /// It is of an older turn than the last ones asked for.
    MaxTurns,
    /// A call of its unit has no result.
    UnansweredCall,
    /// It is soft-forgotten.
    Forgotten,
    /// It is a result that answers no call.
    Aside,
    /// It says nothing and calls nothing.
    Empty,
    /// The format has no place for it.
    Format,
}

impl Message {
    /// What it says; empty when it only calls tools.
    pub fn text(&self) -> &str {
        match (&self.instead, &self.utterance) {
            (Some(text), _) => text,
            (None, Some(utterance)) => &utterance.content,
            (None, None) => "",
        }
    }

    /// Its content as the format's JSON, where it goes out as it came.
    pub fn content_parts(&self) -> Option<&str> {
        self.content_parts.as_deref().filter(|_| self.instead.is_none())
    }

    /// The tools that it calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.utterance.as_ref().map_or(&[], |utterance| utterance.tool_calls())
    }

    /// Who says it, where the role does not tell.
    pub fn name(&self) -> Option<&str> {
        self.utterance.as_ref().filter(|_| !self.is_late_result())?.name()
    }

    /// Whether it tells of a result that came late, on the user's side.
    pub fn is_late_result(&self) -> bool {
        self.utterance.as_ref().is_some_and(|utterance| utterance.late().is_some())
    }

    /// The context's own words.
    pub(super) fn own(role: Role, how: How, text: String, tokens: u32) -> Self {
        let instead = Some(text.into());
        Self { role, utterance: None, instead, content_parts: None, answers: 0, how, tokens }
    }
}

/// What a context may render beside the text of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Archived<'a> {
    /// The pinned utterances of the archive, whole units, ascending.
    pub pinned: &'a [Arc<Utterance>],
    /// The user utterance of the turn that [`asked_before`](crate::domain::context::asked_before) names.
    pub asked: Option<&'a Arc<Utterance>>,
    /// What a search found, the best first; what the context has anyway is passed over.
    pub recalled: &'a [Match],
    /// Content that holds more than text.
    pub content_parts: Option<&'a ContentParts>,
}
