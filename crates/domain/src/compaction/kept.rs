//! Changes to the kept compactions.

use std::sync::Arc;

use crate::{
    Ranges, Transition,
    compaction::record::Compaction,
    limits::{MAX_COMPACTIONS, MAX_UNDO},
    segment::{Summary, SummaryContext},
};

impl Transition {
    /// Changes the summary, what compactions record about it, and the segments that undoing them would
    /// restore.
    pub(crate) fn change_summary(
        &mut self,
        change: impl Fn(&Summary, &SummaryContext<'_>) -> Summary,
        with: &SummaryContext<'_>,
    ) {
        let before = self.after.summary.clone();
        self.after.summary = change(&before, with);
        self.retell_compactions(&before);
        // segments that are not shown need not fit the limit
        let with = SummaryContext { limit: None, ..*with };
        self.each_compaction(|compaction| compaction.refolded(|folded| change(folded, &with)));
    }

    /// Removes hard-forgotten sequences from the segments that undoing compactions would restore.
    pub(crate) fn erase_compacted(&mut self, gone: &Ranges) {
        self.each_compaction(|compaction| {
            compaction.compacted.meets(gone).then(|| {
                let mut compacted = compaction.compacted.clone();
                compacted.subtract(gone);
                Compaction { compacted, ..compaction.clone() }
            })
        });
    }

    /// Updates what compactions record about the summary, which was `before`.
    pub(super) fn retell_compactions(&mut self, before: &Summary) {
        let after = self.after.summary.clone();
        self.each_compaction(|compaction| compaction.retold(before, &after));
    }

    /// Replaces each compaction for which `change` returns another.
    pub(crate) fn each_compaction(&mut self, mut change: impl FnMut(&Compaction) -> Option<Compaction>) {
        let changed: Vec<_> =
            self.after.compactions.iter().filter_map(|compaction| change(compaction)).collect();
        changed.into_iter().for_each(|compaction| drop(self.write_compaction(compaction)));
    }

    /// Replaces the compaction with the same number, or adds this one as the newest.
    pub(super) fn write_compaction(&mut self, compaction: Compaction) -> Arc<Compaction> {
        let compaction = Arc::new(compaction);
        let mut all = self.after.compactions.to_vec();
        match all.iter_mut().find(|other| other.number == compaction.number) {
            Some(place) => *place = compaction.clone(),
            None => all.push(compaction.clone()),
        }
        self.after.compactions = all.into();
        let written = &mut self.change.compactions_written;
        written.retain(|other| other.number != compaction.number);
        written.push(compaction.clone());
        compaction
    }

    /// Adds a compaction as the newest. Beyond the limits, the oldest ones are dropped or can no longer be
    /// undone.
    pub(super) fn add_compaction(&mut self, compaction: Compaction) -> Arc<Compaction> {
        self.change.compaction = Some(compaction.number);
        self.after.head.next_compaction = compaction.number + 1;
        self.after.head.compacted_at = self.after.head.next;
        let added = self.write_compaction(compaction);
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
        added
    }
}
