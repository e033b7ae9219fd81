//! The contents of a file, read into conversations of drafts.

use std::collections::BTreeMap;

use crate::{Format, Note};
use utterd_domain::{
    Draft, Refusal, Timestamp, import::Branch, segment::ImportedSummary, state::StateContent,
};

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The format it was read as.
    pub format: Format,
    /// Its conversations, in order.
    pub conversations: Vec<Parsed>,
    /// Why it is not well-formed, if lines of it were skipped.
    pub torn: Option<Refusal>,
    /// What had to be adapted, and what is not kept.
    pub notes: Vec<Note>,
}

/// A conversation of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The name that the file gives it, in any form.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The summary that was made when it ended.
    pub summary: Option<String>,
    /// The start time.
    pub start: Option<Timestamp>,
    /// The end time; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// The state values kept with it, by name.
    pub state: Vec<(Box<str>, StateContent)>,
    /// Summaries of what came before it.
    pub summaries: Vec<ImportedSummary>,
    /// The labels to give it.
    pub labels: BTreeMap<String, String>,
    /// The place of its messages, such as `conversations[1].messages`.
    pub list: String,
    /// The messages, in order; of a branch, only those that the conversation that it left does not have.
    pub said: Vec<Sourced>,
    /// Where it left another conversation.
    pub branch: Option<Branch>,
}

/// A draft and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced {
    /// The message's index in [`Parsed::list`], from 0; several drafts can come from one message.
    pub index: usize,
    /// The draft.
    pub draft: Draft,
}
