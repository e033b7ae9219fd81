//! What a file holds, read into conversations of drafts.

use std::collections::BTreeMap;

use crate::{
    domain::{Draft, Timestamp, segment::ImportedSummary, state::StateContent},
    formats::{Format, Note},
};

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What it was read as.
    pub format: Format,
    /// Its conversations, in order.
    pub conversations: Vec<Parsed>,
    /// What had to be bent, and what is not kept.
    pub notes: Vec<Note>,
}

/// A conversation of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The name that the file gives it, whatever its form.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The summary that was made when it ended.
    pub summary: Option<String>,
    /// When it started.
    pub start: Option<Timestamp>,
    /// When it ended; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// Values beside it, by name.
    pub state: Vec<(Box<str>, StateContent)>,
    /// What was summarised before it.
    pub summaries: Vec<ImportedSummary>,
    /// Labels that it is to have.
    pub labels: BTreeMap<String, String>,
    /// The place of its messages, such as `conversations[1].messages`.
    pub list: String,
    /// What was said, in order.
    pub said: Vec<Sourced>,
}

/// A draft, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced {
    /// The message's place in [`Parsed::list`], from 0; several drafts may come from one.
    pub index: usize,
    /// What was said.
    pub draft: Draft,
}
