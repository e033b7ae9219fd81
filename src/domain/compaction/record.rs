//! What is kept of a compaction.

use std::sync::Arc;

use crate::domain::{
    Ranges, Revision, Timestamp,
    segment::{Segment, Summary},
};

/// Why a conversation was compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It was asked for.
    Asked,
    /// The advice to do so was followed.
    Advised,
    /// The window passed its policy's turns, or the policy was made narrower.
    Policy,
}

/// A compaction that was made. Immutable: what becomes of it makes another of its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Counts from 1 over the conversation's life.
    pub number: u32,
    /// The revision that made it.
    pub revision: Revision,
    /// When.
    pub time: Timestamp,
    /// Why.
    pub cause: Cause,
    /// The sequences that left the window, without those that were hard-forgotten since.
    pub compacted: Ranges,
    /// How many left.
    pub count: u64,
    /// How many stayed in the window.
    pub kept: u64,
    /// How many were to stay at least, where that was asked for.
    pub keep_recent: Option<u32>,
    /// Whether what left was summarised, and not archived only.
    pub summarised: bool,
    /// Tokens of those that left.
    pub source_tokens: u64,
    /// Tokens of window and summary, before.
    pub tokens_before: u64,
    /// Tokens of window and summary, after: of what it summarised, what stands now, unless what left later
    /// was folded into it.
    pub tokens_after: u64,
    /// The model whose text stands for a part of what it summarised.
    pub model: Option<Arc<str>>,
    /// When it was undone.
    pub undone: Option<Timestamp>,
    /// The segments that it folded, as they would be now, but for imported ones, which stay folded; `None`
    /// when it cannot be undone any more.
    pub folded: Option<Arc<[Arc<Segment>]>>,
}

impl Compaction {
    /// The share of tokens that it saved, 0 to 1.
    pub fn ratio(&self) -> f64 {
        match self.tokens_before {
            0 => 0.0,
            before => 1.0 - self.tokens_after as f64 / before as f64,
        }
    }

    /// Whether it can be undone, as far as its record tells.
    pub fn is_undoable(&self) -> bool {
        self.undone.is_none() && self.folded.is_some()
    }

    /// About how many bytes it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        let folded = self.folded.iter().flat_map(|folded| folded.iter());
        256 + self.compacted.memory_bytes() + folded.map(|segment| segment.memory_bytes()).sum::<usize>()
    }

    /// The same, after what tells of it in the summary became `after` instead of `before`; `None` when
    /// nothing changes.
    pub(super) fn retold(&self, before: &Summary, after: &Summary) -> Option<Self> {
        if self.undone.is_some() {
            return None;
        }
        let tokens_after = match (self.tokens_in(before), self.tokens_in(after)) {
            (Some(was), Some(is)) => (self.tokens_after + is).saturating_sub(was),
            _ => self.tokens_after,
        };
        let model = self.told_in(after).filter_map(|segment| segment.llm_text.as_ref()).next_back();
        let model = model.map(|llm_text| Arc::from(&*llm_text.model));
        let changes = (tokens_after, &model) != (self.tokens_after, &self.model);
        changes.then(|| Self { tokens_after, model, ..self.clone() })
    }

    /// The segments that tell of it.
    fn told_in<'s>(&self, summary: &'s Summary) -> impl DoubleEndedIterator<Item = &'s Arc<Segment>> {
        summary.segments().iter().filter(|segment| segment.covers.meets(&self.compacted))
    }

    /// Their tokens; `None` when one tells of what left later too.
    fn tokens_in(&self, summary: &Summary) -> Option<u64> {
        let own = |segment: &Arc<Segment>| segment.covers.last() <= self.compacted.last();
        self.told_in(summary).map(|segment| own(segment).then(|| u64::from(segment.tokens))).sum()
    }

    /// The same, with `change` made of the segments that it folded; `None` when nothing changes.
    pub(super) fn refolded(&self, change: impl FnOnce(&Summary) -> Summary) -> Option<Self> {
        let folded = self.folded.as_ref().filter(|folded| !folded.is_empty())?;
        let next = folded.iter().map(|segment| segment.number.saturating_add(1)).max().unwrap_or(1);
        let before = Summary::numbered(folded.to_vec(), next);
        let after = change(&before);
        (after.next_number() != next).then(|| Self { folded: Some(after.segments().into()), ..self.clone() })
    }
}
