//! Compaction: most of a window becomes summary at once, and can be taken back (seed 004).

mod advice;
mod compact;
mod retell;
#[cfg(test)]
mod tests;
mod unable;
mod undo;

use std::sync::Arc;

use crate::domain::{
    Ranges, Revision, Timestamp, Transition,
    limits::{MAX_COMPACTIONS, MAX_UNDO},
    segment::{Means, Segment, Summary},
};

pub use advice::{Advice, Answer, answer};
pub use compact::{Compact, Compacted, compact};
pub use retell::{Retell, give_up, retell};
pub use unable::Unable;
pub use undo::{Undo, Undone, undo};

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
    /// Tokens of those that left.
    pub source_tokens: u64,
    /// Tokens of window and summary, before.
    pub tokens_before: u64,
    /// Tokens of window and summary, after.
    pub tokens_after: u64,
    /// The model that told a part of what is summarised, once one has.
    pub model: Option<Arc<str>>,
    /// When it was undone.
    pub undone: Option<Timestamp>,
    /// The segments that it folded, as they would be now; `None` when it cannot be undone any more.
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
        256 + folded.map(|segment| 192 + 8 * segment.tokens as usize + segment.told_bytes()).sum::<usize>()
    }

    /// The same, with `change` made of the segments that it folded; `None` when nothing changes.
    fn refolded(&self, change: impl FnOnce(&Summary) -> Summary) -> Option<Self> {
        let folded = self.folded.as_ref().filter(|folded| !folded.is_empty())?;
        let next = folded.iter().map(|segment| segment.number.saturating_add(1)).max().unwrap_or(1);
        let before = Summary::numbered(folded.to_vec(), next);
        let after = change(&before);
        (after.next_number() != next).then(|| Self { folded: Some(after.segments().into()), ..self.clone() })
    }
}

impl Transition {
    /// Changes the summary, and what undone compactions would bring back of it.
    pub(in crate::domain) fn change_summary(
        &mut self,
        change: impl Fn(&Summary, &Means<'_>) -> Summary,
        means: &Means<'_>,
    ) {
        self.after.summary = change(&self.after.summary, means);
        // what is not shown need not fit in
        let means = Means { limit: None, ..*means };
        self.each_compaction(|compaction| compaction.refolded(|folded| change(folded, &means)));
    }

    /// Takes hard-forgotten sequences out of what compactions would bring back.
    pub(in crate::domain) fn erase_compacted(&mut self, gone: &Ranges) {
        self.each_compaction(|compaction| {
            compaction.compacted.meets(gone).then(|| {
                let mut compacted = compaction.compacted.clone();
                compacted.subtract(gone);
                Compaction { compacted, ..compaction.clone() }
            })
        });
    }

    /// Puts another in the place of each compaction for which `change` gives one.
    pub(in crate::domain) fn each_compaction(
        &mut self,
        mut change: impl FnMut(&Compaction) -> Option<Compaction>,
    ) {
        let changed: Vec<_> =
            self.after.compactions.iter().filter_map(|compaction| change(compaction)).collect();
        changed.into_iter().for_each(|compaction| self.write_compaction(compaction));
    }

    /// Puts a compaction in the place of the one with its number, or adds it as the newest.
    fn write_compaction(&mut self, compaction: Compaction) {
        let compaction = Arc::new(compaction);
        let mut all = self.after.compactions.to_vec();
        match all.iter_mut().find(|other| other.number == compaction.number) {
            Some(place) => *place = compaction.clone(),
            None => all.push(compaction.clone()),
        }
        self.after.compactions = all.into();
        let written = &mut self.change.compactions_written;
        written.retain(|other| other.number != compaction.number);
        written.push(compaction);
    }

    /// Adds a compaction as the newest; the oldest ones beyond the limits are forgotten, or cannot be
    /// undone any more.
    fn add_compaction(&mut self, compaction: Compaction) {
        self.after.head.next_compaction = compaction.number + 1;
        self.after.head.compacted_at = self.after.head.next;
        self.write_compaction(compaction);
        let beyond = self.after.compactions.len().saturating_sub(MAX_COMPACTIONS);
        let gone = self.after.compactions[..beyond].iter().map(|compaction| compaction.number);
        self.change.compactions_removed.extend(gone);
        if beyond > 0 {
            self.after.compactions = self.after.compactions[beyond..].into();
        }
        let undoable = self.after.compactions.iter().filter(|compaction| compaction.is_undoable());
        let mut excess = undoable.count().saturating_sub(MAX_UNDO);
        self.each_compaction(|compaction| {
            let settled = compaction.is_undoable() && excess > 0;
            excess -= usize::from(settled);
            settled.then(|| Compaction { folded: None, ..compaction.clone() })
        });
    }
}
