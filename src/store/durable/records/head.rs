//! The part of a conversation's head that changes with almost every change.

use std::sync::Arc;

use prost::Message;

use crate::domain::{
    Ending, Head, Identity, LineageId, Policy, Ranges, Revision, Sequence, Timestamp, Trunk,
    exchange::OpenExchange, segment::Summary,
};

use super::{
    Description, Fault, KeyReader, KeyWriter, Kind,
    conversation::lineage,
    fields::Fields,
    kind::message,
    number::{revision, sequence},
    ranges::{stepped, steps},
};

/// A head without what changes seldom: each field is that of [`Head`] with its name, and
/// what the summary is known by.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is that of Head with its name")]
pub struct StoredHead {
    /// At least 1.
    pub revision: Revision,
    pub update_time: Timestamp,
    pub said_time: Timestamp,
    pub next: Sequence,
    pub turn: u32,
    pub only_instructions: bool,
    pub open: Option<Arc<OpenExchange>>,
    pub awaits_answer: bool,
    pub left: Arc<Ranges>,
    pub archived: Arc<Ranges>,
    pub pinned_away: Arc<Ranges>,
    pub stored: u64,
    pub erased_at: Revision,
    pub silenced_at: Revision,
    pub advice_answered: u32,
    pub compacted_at: Sequence,
    pub next_compaction: u32,
    /// The number of the next segment, from 1.
    pub next_segment: u32,
    /// How many segments there are.
    pub segments: u32,
    pub trunks: Arc<[Trunk]>,
    /// `None` when it is the lineage that the head stands under.
    pub branch: Option<LineageId>,
    pub fresh_branch: bool,
}

impl StoredHead {
    /// What is stored of a conversation's head, and of its summary, under its lineage.
    pub fn of(head: &Head, summary: &Summary) -> Self {
        Self {
            revision: head.revision,
            update_time: head.update_time,
            said_time: head.said_time,
            next: head.next,
            turn: head.turn,
            only_instructions: head.only_instructions,
            open: head.open.clone(),
            awaits_answer: head.awaits_answer,
            left: head.left.clone(),
            archived: head.archived.clone(),
            pinned_away: head.pinned_away.clone(),
            stored: head.stored,
            erased_at: head.erased_at,
            silenced_at: head.silenced_at,
            advice_answered: head.advice_answered,
            compacted_at: head.compacted_at,
            next_compaction: head.next_compaction,
            next_segment: summary.next_number(),
            segments: summary.segments().len() as u32,
            trunks: head.trunks.clone(),
            branch: (head.branch != head.identity.lineage).then_some(head.branch),
            fresh_branch: head.fresh_branch,
        }
    }

    /// The lineages of its utterances, each with the last sequence that is read there, where one is
    /// looked for first: see [`Head::lineages_of`]. `own` is the lineage that the head stands under.
    pub fn lineages(&self, own: LineageId) -> impl Iterator<Item = (LineageId, Sequence)> {
        let trunks = self.trunks.iter().rev().map(|trunk| (trunk.lineage, trunk.through));
        std::iter::once((self.branch.unwrap_or(own), self.next)).chain(trunks)
    }

    /// Whether the conversation was forked or is a fork, so that others may share what it reads.
    pub fn is_forked(&self) -> bool {
        !self.trunks.is_empty() || self.branch.is_some()
    }

    /// See [`Head::kept`].
    pub fn kept(&self) -> Ranges {
        let mut kept = Ranges::before(self.next);
        kept.subtract(&self.left);
        kept.union(&self.archived);
        kept
    }

    /// The whole head, with what is stored beside it.
    pub fn head(
        self,
        identity: Arc<Identity>,
        policy: Policy,
        description: Description,
        ended: Option<Ending>,
    ) -> Head {
        Head {
            branch: self.branch.unwrap_or(identity.lineage),
            identity,
            revision: self.revision,
            update_time: self.update_time,
            said_time: self.said_time,
            next: self.next,
            turn: self.turn,
            only_instructions: self.only_instructions,
            open: self.open,
            awaits_answer: self.awaits_answer,
            title: description.title,
            ended: ended.map(Arc::new),
            labels: description.labels,
            shares: description.shares,
            policy,
            left: self.left,
            archived: self.archived,
            pinned_away: self.pinned_away,
            stored: self.stored,
            erased_at: self.erased_at,
            silenced_at: self.silenced_at,
            advice_answered: self.advice_answered,
            compacted_at: self.compacted_at,
            next_compaction: self.next_compaction,
            trunks: self.trunks,
            fresh_branch: self.fresh_branch,
            forked_from: description.forked_from,
        }
    }
}

/// The kind of heads, by the lineage that the conversation writes to.
#[derive(Clone, Copy, Debug)]
pub struct Heads;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    revision: u64,
    #[prost(sint64, tag = "2")]
    update_time: i64,
    /// How long before the update, in microseconds.
    #[prost(sint64, tag = "3")]
    said_before: i64,
    #[prost(uint64, tag = "4")]
    next: u64,
    #[prost(uint32, tag = "5")]
    turn: u32,
    #[prost(bool, tag = "6")]
    only_instructions: bool,
    #[prost(message, optional, tag = "7")]
    open: Option<StoredExchange>,
    #[prost(bool, tag = "8")]
    awaits_answer: bool,
    #[prost(uint64, repeated, tag = "9")]
    left: Vec<u64>,
    /// Absent when all that left is archived.
    #[prost(message, optional, tag = "10")]
    archived: Option<StoredRanges>,
    #[prost(uint64, tag = "11")]
    stored: u64,
    #[prost(uint64, tag = "12")]
    erased_at: u64,
    #[prost(uint32, tag = "13")]
    next_segment: u32,
    #[prost(uint32, tag = "14")]
    segments: u32,
    #[prost(message, repeated, tag = "20")]
    trunks: Vec<StoredTrunk>,
    #[prost(bytes = "vec", tag = "21")]
    branch: Vec<u8>,
    #[prost(bool, tag = "22")]
    fresh_branch: bool,
    #[prost(uint64, repeated, tag = "30")]
    pinned_away: Vec<u64>,
    #[prost(uint64, tag = "31")]
    silenced_at: u64,
    #[prost(uint32, tag = "32")]
    advice_answered: u32,
    #[prost(uint64, tag = "33")]
    compacted_at: u64,
    /// How many compactions were made; since version 3.
    #[prost(uint32, tag = "34")]
    compactions: u32,
}

#[derive(Clone, PartialEq, Message)]
struct StoredTrunk {
    #[prost(bytes = "vec", tag = "1")]
    lineage: Vec<u8>,
    #[prost(uint64, tag = "2")]
    through: u64,
}

#[derive(Clone, PartialEq, Message)]
struct StoredExchange {
    /// How far the unit starts before the next sequence.
    #[prost(uint64, tag = "1")]
    unit_back: u64,
    #[prost(string, repeated, tag = "2")]
    calls: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredRanges {
    #[prost(uint64, repeated, tag = "1")]
    steps: Vec<u64>,
}

impl Kind for Heads {
    const NUMBER: u8 = 3;
    const VERSION: u8 = 3;
    const NAME: &'static str = "head";
    type Key = LineageId;
    type Value = StoredHead;

    fn write_key(key: &LineageId, to: &mut KeyWriter) {
        to.lineage(*key);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<LineageId, Fault> {
        parts.lineage()
    }

    fn show(key: &LineageId) -> String {
        key.to_string()
    }

    /// One who passed over trunks and branch would miss utterances, and write to where others read; one who
    /// passed over compactions would leave the texts that they keep when these are forgotten.
    fn version(value: &StoredHead) -> u8 {
        match value.is_forked() {
            _ if value.next_compaction > 1 => 3,
            true => 2,
            false => 1,
        }
    }

    fn write(_: &LineageId, value: &StoredHead, to: &mut Vec<u8>) {
        let mut to = Fields::to(to);
        to.number(1, value.revision.0);
        to.signed(2, value.update_time.0);
        to.signed(3, value.update_time.0.wrapping_sub(value.said_time.0));
        to.number(4, value.next.0);
        to.number(5, value.turn);
        to.flag(6, value.only_instructions);
        if let Some(open) = &value.open {
            to.message(7, |to| {
                to.number(1, value.next.0.wrapping_sub(open.unit.0));
                open.calls.iter().for_each(|call| to.present_text(2, call));
            });
        }
        to.flag(8, value.awaits_answer);
        to.packed(9, || steps(&value.left));
        if value.archived != value.left {
            to.message(10, |to| to.packed(1, || steps(&value.archived)));
        }
        to.number(11, value.stored);
        to.number(12, value.erased_at.0);
        to.number(13, value.next_segment);
        to.number(14, value.segments);
        for trunk in value.trunks.iter() {
            to.message(20, |to| {
                to.bytes(1, &trunk.lineage.0);
                to.number(2, trunk.through.0);
            });
        }
        if let Some(branch) = &value.branch {
            to.bytes(21, &branch.0);
        }
        to.flag(22, value.fresh_branch);
        to.packed(30, || steps(&value.pinned_away));
        to.number(31, value.silenced_at.0);
        to.number(32, value.advice_answered);
        to.number(33, value.compacted_at.0);
        to.number(34, value.next_compaction.wrapping_sub(1));
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<StoredHead, Fault> {
        let stored: Stored = message(payload)?;
        let next = sequence("the next sequence", stored.next)?;
        let left = Arc::new(stepped("the ranges that left", &stored.left)?);
        let archived = match &stored.archived {
            None => left.clone(),
            Some(archived) => Arc::new(stepped("the archived ranges", &archived.steps)?),
        };
        let head = StoredHead {
            revision: revision("the revision", stored.revision)?,
            update_time: Timestamp(stored.update_time),
            said_time: Timestamp(stored.update_time.wrapping_sub(stored.said_before)),
            next,
            turn: stored.turn,
            only_instructions: stored.only_instructions,
            open: stored.open.map(|open| exchange(open, next)).transpose()?.map(Arc::new),
            awaits_answer: stored.awaits_answer,
            left,
            archived,
            pinned_away: Arc::new(stepped("the ranges pinned in the archive", &stored.pinned_away)?),
            stored: stored.stored,
            erased_at: revision("the revision that erased", stored.erased_at)?,
            silenced_at: revision("the revision that forgot or restored", stored.silenced_at)?,
            advice_answered: stored.advice_answered,
            compacted_at: Sequence(stored.compacted_at),
            next_compaction: next_compaction(stored.compactions)?,
            next_segment: stored.next_segment,
            segments: stored.segments,
            trunks: stored.trunks.iter().map(trunk).collect::<Result<_, _>>()?,
            branch: branch(&stored.branch)?,
            fresh_branch: stored.fresh_branch,
        };
        check(&head).map(|()| head)
    }
}

fn next_compaction(made: u32) -> Result<u32, Fault> {
    made.checked_add(1).ok_or_else(|| Fault::wrong("the compactions", "are too many to number"))
}

fn exchange(stored: StoredExchange, next: Sequence) -> Result<OpenExchange, Fault> {
    const PART: &str = "the open exchange";
    if stored.calls.is_empty() {
        return Err(Fault::wrong(PART, "waits for no call"));
    }
    if !(1..next.0).contains(&stored.unit_back) {
        return Err(Fault::wrong(PART, format_args!("starts {} before {next}", stored.unit_back)));
    }
    let unit = Sequence(next.0 - stored.unit_back);
    Ok(OpenExchange { unit, calls: stored.calls.into_iter().map(String::into_boxed_str).collect() })
}

fn trunk(stored: &StoredTrunk) -> Result<Trunk, Fault> {
    let lineage = lineage("the lineage of a trunk", &stored.lineage)?;
    Ok(Trunk { lineage, through: sequence("the last sequence of a trunk", stored.through)? })
}

fn branch(stored: &[u8]) -> Result<Option<LineageId>, Fault> {
    match stored {
        [] => Ok(None),
        _ => lineage("the branch", stored).map(Some),
    }
}

/// What the fields of a head owe each other.
fn check(head: &StoredHead) -> Result<(), Fault> {
    let wrong = [
        ("the revision", "is 0; a stored conversation has one", head.revision == Revision::NONE),
        ("the revision that erased", "is above the revision", head.erased_at > head.revision),
        ("the revision that forgot or restored", "is above the revision", head.silenced_at > head.revision),
        ("the last compaction", "is beyond the next sequence", head.compacted_at > head.next),
        ("the number of the next segment", "is 0; segments count from 1", head.next_segment == 0),
        ("the segments", "are more than were numbered", head.segments >= head.next_segment.max(1)),
        ("the ranges that left", "reach beyond the last sequence", head.left.last() >= Some(head.next)),
        ("the archived ranges", "are not among those that left", !head.left.holds(&head.archived)),
        (
            "the ranges pinned in the archive",
            "are not among the archived",
            !head.archived.holds(&head.pinned_away),
        ),
        ("the utterances stored", "are fewer than the archived", head.stored < head.archived.count()),
        (
            "a trunk",
            "reaches beyond the last sequence",
            head.trunks.iter().any(|trunk| trunk.through >= head.next),
        ),
    ];
    match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
        Some((part, problem, _)) => Err(Fault::wrong(part, problem)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::tests::{given, stable},
        *,
    };

    /// A field that came later; it is never changed, and absent while nothing is pinned there.
    #[test]
    fn what_is_pinned_in_the_archive_is_stable() {
        let written = |head: &StoredHead| {
            let mut bytes = Vec::new();
            Heads::write(&stable::LINEAGE, head, &mut bytes);
            bytes
        };
        let mut head = stable::head();
        let without = written(&head);
        head.pinned_away = Arc::new(Ranges::of(Sequence(4), Sequence(5)));
        let with = written(&head);
        assert_eq!(with[..without.len()], without);
        assert_eq!(with[without.len()..], [0xf2, 0x01, 0x02, 0x04, 0x01]);
        assert_eq!(Heads::read(&stable::LINEAGE, &with), Ok(head));
    }

    /// What an older program would forget of it is of no consequence, but for compactions.
    #[test]
    fn only_compactions_raise_the_version() {
        let version = |head: StoredHead| Heads::version(&head);
        let advised = StoredHead { silenced_at: Revision(5), advice_answered: 50, ..stable::head() };
        assert_eq!((version(stable::head()), version(advised)), (1, 1));
        assert_eq!(version(StoredHead { next_compaction: 2, ..stable::head() }), 3);
        let forked = StoredHead { branch: Some(LineageId([9; 16])), ..stable::head() };
        assert_eq!((version(forked.clone()), version(StoredHead { next_compaction: 2, ..forked })), (2, 3));
    }

    proptest! {
        #[test]
        fn is_written_as_prost_writes_it(head in given::forked_head()) {
            let mut payload = Vec::new();
            Heads::write(&LineageId([1; 16]), &head, &mut payload);
            prop_assert_eq!(Stored::decode(&*payload).unwrap().encode_to_vec(), payload);
        }
    }
}
