//! The consistency of a head's numbers.

use crate::{Head, Revision};

impl Head {
    /// Returns the first part of a committed head that does not fit the others, and what is wrong with it.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let reaches_beyond = self.trunks.iter().any(|trunk| trunk.through >= self.next);
        let said = |sequence| sequence < self.next;
        let calls_are_wrong = self.abandoned.iter().any(|call| {
            let answer = call.answer.unwrap_or(self.next);
            !said(call.caller) || answer <= call.caller || !(call.answer.is_none() || said(answer))
        });
        let wrong = [
            ("the revision", "is 0; a stored conversation has one", self.revision == Revision::NONE),
            ("the revision that erased", "is above the revision", self.erased_at > self.revision),
            (
                "the revision that forgot or restored",
                "is above the revision",
                self.silenced_at > self.revision,
            ),
            ("the last compaction", "is beyond the next sequence", self.compacted_at > self.next),
            (
                "the number of the next compaction",
                "is 0; compactions count from 1",
                self.next_compaction == 0,
            ),
            ("the ranges that left", "reach beyond the last sequence", self.left.last() >= Some(self.next)),
            ("the archived ranges", "are not among those that left", !self.left.holds(&self.archived)),
            (
                "the ranges pinned in the archive",
                "are not among the archived",
                !self.archived.holds(&self.pinned_away),
            ),
            ("the utterances stored", "are fewer than the archived", self.stored < self.archived.count()),
            (
                "an abandoned call",
                "is beyond the last sequence, or answered before it was made",
                calls_are_wrong,
            ),
            ("a trunk", "reaches beyond the last sequence", reaches_beyond),
        ];
        match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
            Some((part, problem, _)) => Err((part, problem)),
            None => Ok(()),
        }
    }
}
