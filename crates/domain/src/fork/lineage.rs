//! Where a conversation's utterances are stored, if it was forked or is a fork.

use crate::{AssignedId, Head, LineageId, Ranges, Sequence, Trunk};

impl Head {
    /// The lineages in which its utterances are stored, in the order of lookup: the branch, then the trunks,
    /// newest first, each with the last sequence read there. The first record found is the utterance: a change
    /// since a fork overrides the shared record.
    pub fn lineages(&self) -> impl Iterator<Item = (LineageId, Sequence)> {
        let trunks = self.trunks.iter().rev().map(|trunk| (trunk.lineage, trunk.through));
        std::iter::once((self.branch, self.newest())).chain(trunks)
    }

    /// The sequences of everything stored, in the window or the archive, including those that were erased.
    pub fn kept(&self) -> Ranges {
        let mut kept = Ranges::before(self.next);
        kept.subtract(&self.left);
        kept.union(&self.archived);
        kept
    }

    /// The sequence that `text` names, if it is an id that the server made for an utterance that this
    /// conversation reads.
    pub fn assigned(&self, text: &str) -> Option<Sequence> {
        let named = |lineage| AssignedId::sequence_of(text, lineage);
        let in_trunk = |trunk: &Trunk| named(trunk.lineage).filter(|sequence| *sequence <= trunk.through);
        named(self.branch).or_else(|| self.trunks.iter().rev().find_map(in_trunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_life;

    const OLD: LineageId = LineageId([1; 16]);
    const NEWER: LineageId = LineageId([2; 16]);
    const OWN: LineageId = LineageId([3; 16]);

    /// The head of a fork of a fork.
    fn head() -> Head {
        test_life::head(&[(OLD, 4), (NEWER, 6)], OWN, 9)
    }

    #[test]
    fn an_utterance_is_looked_for_where_it_changed_last() {
        let lineages: Vec<_> = head().lineages().collect();
        assert_eq!(lineages, [(OWN, head().newest()), (NEWER, Sequence(6)), (OLD, Sequence(4))]);
    }

    #[test]
    fn an_assigned_id_is_of_a_lineage_that_is_read_so_far() {
        let named = |lineage, sequence| head().assigned(&AssignedId(lineage, Sequence(sequence)).text());
        assert_eq!(named(OLD, 4), Some(Sequence(4)));
        assert_eq!(named(OLD, 5), None, "said after the fork, in the parent");
        assert_eq!(named(NEWER, 6), Some(Sequence(6)));
        assert_eq!(named(OWN, 900), Some(Sequence(900)));
        assert_eq!(named(LineageId([4; 16]), 1), None);
        assert_eq!(head().assigned("4"), None);
    }
}
