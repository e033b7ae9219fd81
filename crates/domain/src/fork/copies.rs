//! Which utterances of a conversation are copies of others, by where these were first stored.

use crate::{
    Head, LineageId, Ranges, Sequence, Trunk,
    fork::origin::{Copied, Had, Origin, Origins},
};

/// How many of the last runs of copies are searched for one to continue.
const NEAR: usize = 8;

impl Head {
    /// The origins of these utterances, stored or not: every lineage in which another conversation may have
    /// them, and what they are copies of.
    pub fn origins_of(&self, sequences: &Ranges) -> Origins {
        let mut origins = Origins::default();
        for (lineage, last) in self.lineages() {
            origins.add(lineage, &sequences.intersection(&Ranges::before(last.next())));
        }
        for copied in self.copies.iter() {
            let some = sequences.intersection(&copied.sequences());
            origins.add(copied.origin.lineage, &moved(&some, copied.first, copied.origin.sequence));
        }
        origins
    }

    /// The utterances of this conversation that have one of `origins`, stored or not.
    pub fn having(&self, origins: &Origins) -> Had {
        let mut had = Had::default();
        for (lineage, last) in self.lineages() {
            had.shared.union(&origins.of(lineage, &Ranges::before(last.next())));
        }
        for copied in self.copies.iter() {
            let some = origins.of(copied.origin.lineage, &copied.origins());
            let some = moved(&some, copied.origin.sequence, copied.first);
            if copied.edited { &mut had.edited } else { &mut had.copied }.union(&some);
        }
        had.copied.subtract(&had.shared);
        had.edited.subtract(&had.shared);
        had.edited.subtract(&had.copied);
        had
    }

    /// The origins that a copy of an utterance keeps, as if it had the same place: where its content was first said, and which
    /// contents it replaced.
    pub fn origins_at(&self, sequence: Sequence) -> Vec<Copied> {
        let at = |run: &&Copied| (run.first..=run.last).contains(&sequence);
        let mut origins: Vec<_> = self.copies.iter().filter(at).map(|run| run.at(sequence)).collect();
        if origins.iter().all(|from| from.edited) {
            let reaches = |trunk: &&Trunk| sequence <= trunk.through;
            let lineage = self.trunks.iter().find(reaches).map_or(self.branch, |trunk| trunk.lineage);
            let origin = Origin { lineage, sequence };
            origins.push(Copied { first: sequence, last: sequence, origin, edited: false });
        }
        origins
    }

    /// The runs of copies among the utterances up to `last`.
    pub fn copies_through(&self, last: Sequence) -> Vec<Copied> {
        let cut = |copied: &Copied| Copied { last: copied.last.min(last), ..*copied };
        self.copies.iter().filter(|copied| copied.first <= last).map(cut).collect()
    }

    /// Records of what single utterances, ascending by sequence, are copies. The conversation becomes a relative of
    /// those it has copies of: its trunks name their lineages, without reading anything in them.
    pub fn note_copies(&mut self, copies: impl IntoIterator<Item = Copied>) {
        let mut all = self.copies.to_vec();
        for copy in copies {
            match all.iter_mut().rev().take(NEAR).find(|run| run.continues(&copy)) {
                Some(run) => run.last = copy.last,
                None => all.push(copy),
            }
        }
        if all.len() == self.copies.len() && *all == *self.copies {
            return;
        }
        self.copies = all.into();
        let (mut trunks, named): (Vec<Trunk>, Vec<LineageId>) =
            (Vec::new(), self.lineages().map(|(lineage, _)| lineage).collect());
        for Copied { origin: Origin { lineage, .. }, .. } in self.copies.iter() {
            if !named.contains(lineage) && trunks.iter().all(|trunk| trunk.lineage != *lineage) {
                trunks.push(Trunk { lineage: *lineage, through: Sequence(0) });
            }
        }
        if !trunks.is_empty() {
            trunks.extend(self.trunks.iter().copied());
            self.trunks = trunks.into();
        }
    }
}

/// `sequences`, shifted by the distance from `from` to `to`.
fn moved(sequences: &Ranges, from: Sequence, to: Sequence) -> Ranges {
    let moved = |sequence: Sequence| Sequence((sequence.0 - from.0).saturating_add(to.0));
    let mut all = Ranges::new();
    sequences.iter().for_each(|range| all.insert(moved(*range.start()), moved(*range.end())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_life::head;

    const OLD: LineageId = LineageId([1; 16]);
    const NEWER: LineageId = LineageId([2; 16]);
    const OWN: LineageId = LineageId([3; 16]);
    const OTHER: LineageId = LineageId([9; 16]);

    fn range(first: u64, last: u64) -> Ranges {
        Ranges::of(Sequence(first), Sequence(last))
    }

    /// A copy, at `place`, of the utterance with this sequence.
    fn copy(place: u64, lineage: LineageId, sequence: u64, edited: bool) -> Copied {
        let (first, origin) = (Sequence(place), Origin { lineage, sequence: Sequence(sequence) });
        Copied { first, last: first, origin, edited }
    }

    fn has(head: &Head, of: &Head, sequences: &Ranges) -> [String; 3] {
        let Had { shared, copied, edited } = head.having(&of.origins_of(sequences));
        [shared, copied, edited].map(|part| part.to_string())
    }

    #[test]
    fn what_two_share_is_what_both_read_in_one_place() {
        let (one, mut other) = (head(&[(OLD, 4), (NEWER, 6)], OWN, 9), head(&[(OLD, 3)], OTHER, 9));
        assert_eq!(has(&other, &one, &range(1, 9)), ["1-3", "none", "none"]);
        assert_eq!(has(&one, &other, &range(2, 9)), ["2-3", "none", "none"]);
        other.trunks = [].into();
        assert!(one.having(&other.origins_of(&range(1, 9))).is_empty());
    }

    /// Forks, forks of forks and copies of copies, no matter which of them were deleted.
    #[test]
    fn copies_name_where_it_was_first_said() {
        let parent = head(&[(OLD, 4)], NEWER, 6);
        let mut fork = head(&[(OLD, 1)], OWN, 2);
        fork.note_copies([2, 3, 4].into_iter().flat_map(|at| parent.origins_at(Sequence(at))));
        fork.note_copies([copy(5, NEWER, 5, true)]);
        fork.next = Sequence(6);
        assert_eq!(fork.copies.len(), 2, "{:?}", fork.copies);
        assert_eq!(fork.trunks[0], Trunk { lineage: NEWER, through: Sequence(0) }, "it is a relative");
        assert_eq!(fork.trunks.len(), 2);
        assert_eq!(has(&fork, &parent, &range(1, 3)), ["1", "2-3", "none"]);
        assert_eq!(has(&parent, &fork, &range(3, 5)), ["3-5", "none", "none"]);
        assert_eq!(has(&fork, &parent, &range(5, 5)), ["none", "none", "5"]);
        let mut second = head(&[], OTHER, 1);
        let moved = |at: u64| {
            fork.origins_at(Sequence(at)).into_iter().map(move |from| Copied {
                first: Sequence(at - 2),
                last: Sequence(at - 2),
                ..from
            })
        };
        second.note_copies([3, 5].into_iter().flat_map(moved));
        assert_eq!(fork.origins_at(Sequence(5)), [copy(5, NEWER, 5, true), copy(5, OWN, 5, false)]);
        assert_eq!(has(&second, &fork, &range(3, 5)), ["none", "1, 3", "none"]);
        assert_eq!(has(&second, &parent, &range(3, 5)), ["none", "1", "3"]);
        assert_eq!(fork.copies_through(Sequence(3)).len(), 1);
        assert_eq!(fork.copies_through(Sequence(1)), []);
    }
}
