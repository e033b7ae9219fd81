//! A conversation's compactions, and what an undo of them would bring back.

use super::{
    summary::{check_shape, without},
    survey::Findings,
};
use crate::domain::{Head, Ranges, compaction::Compaction};

/// The compactions of one conversation, as far as they were seen.
#[derive(Default)]
pub(super) struct Compacted {
    newest: Option<u32>,
    /// The sequences that folded segments have sentences of.
    pub(super) sentences: Ranges,
}

impl Compacted {
    /// The next compaction by number; `None` when it cannot be read.
    pub(super) fn add(
        &mut self,
        number: u32,
        compaction: Option<&Compaction>,
        head: &Head,
        findings: &mut Findings<'_, '_>,
    ) {
        if let Some(missing) = self.newest.map(|newest| newest + 1).filter(|next| *next != number) {
            findings.add(format_args!("compaction {missing} is missing"));
        }
        self.newest = Some(number);
        if number >= head.next_compaction {
            let next = head.next_compaction;
            findings
                .add(format_args!("compaction {number} has a number that the next ones get: from {next}"));
        }
        if let Some(compaction) = compaction {
            self.check(compaction, head, findings);
        }
    }

    /// It was made by a revision that there was, what it took out of the window is not there again unless
    /// it was undone, and the segments that it folded are segments of what left before.
    fn check(&mut self, compaction: &Compaction, head: &Head, findings: &mut Findings<'_, '_>) {
        let number = compaction.number;
        if compaction.revision > head.revision {
            let (made, revision) = (compaction.revision.0, head.revision.0);
            findings.add(format_args!("compaction {number} is of revision {made}, its head of {revision}"));
        }
        let live = without(&compaction.compacted, &head.left);
        if compaction.undone.is_none() && !live.is_empty() {
            findings.add(format_args!("compaction {number} compacted what did not leave the window: {live}"));
        }
        let mut covered = Ranges::new();
        for segment in compaction.folded.iter().flat_map(|folded| folded.iter()) {
            let name = format!("segment {} that compaction {number} folded", segment.number);
            let sentences = check_shape(segment, &covered, &name, head, findings);
            covered.union(&segment.covers);
            self.sentences.union(&sentences);
        }
    }

    /// The newest is there.
    pub(super) fn check_newest(&self, head: &Head, findings: &mut Findings<'_, '_>) {
        let newest = head.next_compaction - 1;
        if newest > self.newest.unwrap_or(0) {
            findings.add(format_args!("compaction {newest} is missing"));
        }
    }
}
