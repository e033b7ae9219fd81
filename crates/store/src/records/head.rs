//! A conversation's head: the part that almost every change modifies, and the part that describes the conversation.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use utterd_domain::{
    Conversation, Copied, ForkedFrom, Head, Identity, Utterance,
    compaction::Compaction,
    segment::{Segment, Summary},
    share::Share,
    state::StateEntry,
};

use super::Fault;

/// A head as stored, with the numbers of its summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadRecord {
    /// Without the parts that have records of their own: the identity and the description. See
    /// [`HeadRecord::complete`].
    pub head: Head,
    /// The number of the next segment, from 1.
    pub next_segment: u32,
    /// Number of segments.
    pub segments: u32,
}

impl HeadRecord {
    /// Returns the record of a conversation's head and summary.
    pub fn of(head: &Head, summary: &Summary) -> Self {
        let segments = summary.segments().len() as u32;
        Self { head: head.clone(), next_segment: summary.next_number(), segments }
    }

    /// Returns the record with the whole head: with the parts stored in other records.
    pub fn complete(self, identity: Arc<Identity>, description: Description) -> Self {
        let Description { title, labels, shares, forked_from, copies, state, made_title } = description;
        let head =
            Head { identity, title, labels, shares, forked_from, copies, state, made_title, ..self.head };
        Self { head, ..self }
    }

    /// Returns the conversation with this head, which is [complete](Self::complete), of its other records, each in
    /// order; or how they do not fit together.
    pub fn conversation(
        self,
        window: Vec<Arc<Utterance>>,
        segments: Vec<Arc<Segment>>,
        compactions: Vec<Arc<Compaction>>,
    ) -> Result<Conversation, String> {
        let Self { head, next_segment, segments: count } = self;
        if segments.len() != count as usize {
            return Err(format!("it has {} segments instead of {count}", segments.len()));
        }
        let there = window.len() as u64 + head.archived.count();
        if there != head.stored {
            return Err(format!("it has {there} utterances instead of {}", head.stored));
        }
        // those before the first one that is stored were dropped
        let numbers = compactions.iter().rev().map(|compaction| compaction.number);
        let are_whole = numbers.eq((1..head.next_compaction).rev().take(compactions.len()));
        if !are_whole || compactions.is_empty() && head.next_compaction > 1 {
            return Err(format!("not all of its {} compactions are stored", head.next_compaction - 1));
        }
        let (summary, window) = (Summary::numbered(segments, next_segment), window.into_iter().collect());
        Ok(Conversation { head, window, summary, compactions: compactions.into() })
    }

    /// Checks the fields against each other.
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.head.check().map_err(|(part, problem)| Fault::wrong(part, problem))?;
        if self.next_segment == 0 {
            return Err(Fault::wrong("the number of the next segment", "is 0; segments count from 1"));
        }
        match self.segments >= self.next_segment {
            true => Err(Fault::wrong("the segments", "are more than were numbered")),
            false => Ok(()),
        }
    }
}

/// A conversation's titles, labels, shares, parent, copies and state entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// See [`Head::title`].
    pub title: Option<Arc<str>>,
    /// See [`Head::labels`].
    pub labels: Arc<BTreeMap<String, String>>,
    /// See [`Head::shares`].
    pub shares: Arc<[Share]>,
    /// See [`Head::forked_from`].
    pub forked_from: Option<Arc<ForkedFrom>>,
    /// See [`Head::copies`].
    pub copies: Arc<[Copied]>,
    /// See [`Head::state`].
    pub state: Arc<[StateEntry]>,
    /// See [`Head::made_title`].
    pub made_title: Option<Arc<str>>,
}

impl Description {
    /// Returns the description of a conversation.
    pub fn of(head: &Head) -> Self {
        Self {
            title: head.title.clone(),
            labels: head.labels.clone(),
            shares: head.shares.clone(),
            forked_from: head.forked_from.clone(),
            copies: head.copies.clone(),
            state: head.state.clone(),
            made_title: head.made_title.clone(),
        }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
