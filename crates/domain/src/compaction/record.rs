//! The record of a compaction.

use std::sync::Arc;

use crate::{
    Ranges, Revision, Timestamp,
    segment::{Segment, Summary},
};

/// Why a conversation was compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Cause {
    /// A caller asked for it.
    Asked,
    /// A caller followed the advice to compact.
    Advised,
    /// The window exceeded its policy's turns, or the policy was narrowed.
    Policy,
}

/// A compaction that was made. Immutable: a change makes another one with its number.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Compaction {
    /// Counts from 1 over the conversation's life.
    pub number: u32,
    /// The revision that made it.
    pub revision: Revision,
    /// When it was made.
    pub time: Timestamp,
    /// Why it was made.
    pub cause: Cause,
    /// The sequences that left the window, without those that were hard-forgotten since.
    pub compacted: Ranges,
    /// How many left.
    pub count: u64,
    /// How many stayed in the window.
    pub kept: u64,
    /// How many should stay at least, if that was given.
    pub keep_recent: Option<u32>,
    /// Whether what left was summarised, and not only archived.
    pub summarised: bool,
    /// Tokens of the utterances that left.
    pub source_tokens: u64,
    /// Tokens of window and summary, before.
    pub tokens_before: u64,
    /// Tokens of window and summary, after. Follows the current text of the summarised part, unless a later
    /// compaction or eviction was folded into the same segment.
    pub tokens_after: u64,
    /// The model whose text is shown for a part of what it summarised.
    pub model: Option<Arc<str>>,
    /// When it was undone.
    pub undone: Option<Timestamp>,
    /// The segments that it folded, kept up to date with later changes; without imported ones, which stay folded;
    /// `None` if it can no longer be undone.
    pub folded: Option<Arc<[Arc<Segment>]>>,
}

impl Compaction {
    /// The share of tokens it saved, 0 to 1.
    pub fn ratio(&self) -> f64 {
        match self.tokens_before {
            0 => 0.0,
            before => 1.0 - self.tokens_after as f64 / before as f64,
        }
    }

    /// Whether it can be undone, judging by its record alone.
    pub fn is_undoable(&self) -> bool {
        self.undone.is_none() && self.folded.is_some()
    }

    /// The approximate memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        let folded = self.folded.iter().flat_map(|folded| folded.iter());
        256 + self.compacted.memory_bytes() + folded.map(|segment| segment.memory_bytes()).sum::<usize>()
    }

    /// The same after the summary changed from `before` to `after`; `None` if nothing changes.
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

    /// The segments that cover some of its utterances.
    fn told_in<'s>(&self, summary: &'s Summary) -> impl DoubleEndedIterator<Item = &'s Arc<Segment>> {
        summary.segments().iter().filter(|segment| segment.covers.meets(&self.compacted))
    }

    /// Their tokens; `None` if one also covers something that left later.
    fn tokens_in(&self, summary: &Summary) -> Option<u64> {
        let own = |segment: &Arc<Segment>| segment.covers.last() <= self.compacted.last();
        self.told_in(summary).map(|segment| own(segment).then(|| u64::from(segment.tokens))).sum()
    }

    /// The same with `change` applied to the segments that it folded; `None` if nothing changes.
    pub(super) fn refolded(&self, change: impl FnOnce(&Summary) -> Summary) -> Option<Self> {
        let folded = self.folded.as_ref().filter(|folded| !folded.is_empty())?;
        let next = folded.iter().map(|segment| segment.number.saturating_add(1)).max().unwrap_or(1);
        let before = Summary::numbered(folded.to_vec(), next);
        let after = change(&before);
        (after.next_number() != next).then(|| Self { folded: Some(after.segments().into()), ..self.clone() })
    }
}
