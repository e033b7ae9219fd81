//! The part of a conversation's head that almost every change modifies.

use std::sync::Arc;

use crate::domain::{
    Conversation, ConversationId, ConversationKey, Copied, Encoding, Ending, Head, Identity, LineageId,
    Namespace, Policy, Ranges, RecipientId, Sequence, Timestamp, Trunk,
    exchange::{AbandonedCall, OpenExchange},
    segment::Summary,
};

use super::{
    Description, Fault,
    field::{Field, Message, message},
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
};

/// A head as stored, with the numbers of its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadRecord {
    /// Without the parts that have records of their own: the identity except the lineage, the policy, the
    /// description and the ending. See [`HeadRecord::complete`].
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
    pub fn complete(
        self,
        identity: Arc<Identity>,
        policy: Policy,
        description: Description,
        ended: Option<Ending>,
    ) -> Self {
        let Description { title, labels, shares, forked_from, copies, state } = description;
        let ended = ended.map(Arc::new);
        let head = Head { identity, policy, title, labels, shares, forked_from, copies, ..self.head };
        Self { head: Head { state, ended, ..head }.with_repeats_as_copies(), ..self }
    }

    /// Returns a record with no fields read yet.
    pub(super) fn blank(lineage: LineageId) -> Self {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(0) },
            recipient: RecipientId::default(),
            lineage,
            start_time: Timestamp(0),
            encoding: Encoding::default(),
        };
        let Conversation { head, .. } = Conversation::new(identity, Policy::ROLLING);
        let head = Head { window_tokens: None, stored_bytes: None, ..head };
        Self { head, next_segment: 0, segments: 0 }
    }
}

impl RecordValue<LineageId> for HeadRecord {
    /// A reader that skipped trunks and branch would miss utterances, and write to a lineage that others
    /// read. One that skipped compactions would leave forgotten texts in them. One that skipped copies would
    /// leave them in place when their origins are forgotten.
    fn version(&self) -> u8 {
        let reads_nothing = |trunk: &Trunk| trunk.through == Sequence(0);
        let elsewhere = |run: &Copied| run.origin.lineage != self.head.identity.lineage;
        let is_copy = self.head.copies.iter().any(elsewhere);
        match self.head.is_forked() {
            _ if is_copy || self.head.trunks.iter().any(reads_nothing) => 4,
            _ if self.head.next_compaction > 1 => 3,
            true => 2,
            false => 1,
        }
    }

    fn write(&self, lineage: &LineageId, to: &mut Fields<'_>) {
        let Self { head, next_segment, segments } = self;
        head.revision.put(1, to);
        head.update_time.put(2, to);
        // The time from the last utterance to the update.
        Timestamp(head.update_time.0.wrapping_sub(head.said_time.0)).put(3, to);
        head.next.put(4, to);
        head.turn.put(5, to);
        head.only_instructions.put(6, to);
        if let Some(open) = &head.open {
            to.message(7, |to| {
                // The distance from the unit's start to the next sequence.
                head.next.0.wrapping_sub(open.unit.0).put(1, to);
                open.calls.put(2, to);
            });
        }
        head.awaits_answer.put(8, to);
        head.left.put(9, to);
        // Absent if all utterances that left the window are archived.
        if head.archived != head.left {
            to.message(10, |to| head.archived.put(1, to));
        }
        head.stored.put(11, to);
        head.erased_at.put(12, to);
        next_segment.put(13, to);
        segments.put(14, to);
        head.trunks.put(20, to);
        // Absent if it is the conversation's own lineage.
        Some(head.branch).filter(|branch| branch != lineage).put(21, to);
        head.fresh_branch.put(22, to);
        head.pinned_away.put(30, to);
        head.silenced_at.put(31, to);
        head.advice_answered.put(32, to);
        head.compacted_at.put(33, to);
        // Number of compactions made.
        head.next_compaction.wrapping_sub(1).put(34, to);
        head.change.put(35, to);
        head.window_tokens.put(36, to);
        head.abandoned.put(37, to);
        head.stored_bytes.put(38, to);
    }

    fn read(lineage: &LineageId, from: &Payload<'_>) -> Result<Self, Fault> {
        let blank = Self::blank(*lineage).head;
        let update_time: Timestamp = Field::get("the time of the update", 2, from)?;
        let before: Timestamp = Field::get("the time since the last utterance", 3, from)?;
        let next = Field::get("the next sequence", 4, from)?;
        let left: Arc<Ranges> = Field::get("the ranges that left", 9, from)?;
        let head = Head {
            revision: Field::get("the revision", 1, from)?,
            update_time,
            said_time: Timestamp(update_time.0.wrapping_sub(before.0)),
            next,
            turn: Field::get("the turn", 5, from)?,
            only_instructions: Field::get("whether only instructions were said", 6, from)?,
            open: open(next, from.one(7))?,
            awaits_answer: Field::get("whether an answer is awaited", 8, from)?,
            archived: match from.one(10) {
                Stored::Nothing => left.clone(),
                stored => Field::get(ARCHIVED, 1, &stored.message(ARCHIVED)?)?,
            },
            left,
            stored: Field::get("the utterances stored", 11, from)?,
            erased_at: Field::get("the revision that erased", 12, from)?,
            trunks: Field::get("a trunk", 20, from)?,
            branch: Option::get("the branch", 21, from)?.unwrap_or(*lineage),
            fresh_branch: Field::get("whether the branch is fresh", 22, from)?,
            pinned_away: Field::get("the ranges pinned in the archive", 30, from)?,
            silenced_at: Field::get("the revision that forgot or restored", 31, from)?,
            advice_answered: Field::get("the advice that was answered", 32, from)?,
            compacted_at: Field::get("the last compaction", 33, from).map(Sequence)?,
            next_compaction: next_compaction(Field::get(COMPACTIONS, 34, from)?)?,
            change: Field::get("the change", 35, from)?,
            window_tokens: Field::get("the tokens of the window", 36, from)?,
            abandoned: Field::get("an abandoned call", 37, from)?,
            stored_bytes: Field::get("the bytes of the utterances", 38, from)?,
            ..blank
        };
        let next_segment = Field::get("the number of the next segment", 13, from)?;
        let record = Self { head, next_segment, segments: Field::get("the segments", 14, from)? };
        check(&record).map(|()| record)
    }
}

message! {
    AbandonedCall {
        1 id: "the id of an abandoned call",
        2 caller: "the utterance of an abandoned call",
        3 answer: "the late result of an abandoned call",
    }
}

const ARCHIVED: &str = "the archived ranges";
const COMPACTIONS: &str = "the compactions";

fn open(next: Sequence, stored: Stored<'_>) -> Result<Option<Arc<OpenExchange>>, Fault> {
    const PART: &str = "the open exchange";
    if let Stored::Nothing = stored {
        return Ok(None);
    }
    let from = stored.message(PART)?;
    let (back, calls) = (u64::get(PART, 1, &from)?, Vec::get("an unanswered call", 2, &from)?);
    if calls.is_empty() {
        return Err(Fault::wrong(PART, "waits for no call"));
    }
    if !(1..next.0).contains(&back) {
        return Err(Fault::wrong(PART, format_args!("starts {back} before {next}")));
    }
    Ok(Some(Arc::new(OpenExchange { unit: Sequence(next.0 - back), calls })))
}

fn next_compaction(made: u32) -> Result<u32, Fault> {
    made.checked_add(1).ok_or_else(|| Fault::wrong(COMPACTIONS, "are too many to number"))
}

/// Checks the fields against each other.
fn check(HeadRecord { head, next_segment, segments }: &HeadRecord) -> Result<(), Fault> {
    head.check().map_err(|(part, problem)| Fault::wrong(part, problem))?;
    if *next_segment == 0 {
        return Err(Fault::wrong("the number of the next segment", "is 0; segments count from 1"));
    }
    match segments >= next_segment {
        true => Err(Fault::wrong("the segments", "are more than were numbered")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::encoding::{DecodeContext, decode_key, skip_field};

    use super::{
        super::tests::{given, stable},
        *,
    };
    use crate::domain::{ChangeId, Ranges, Revision};

    fn written(record: &HeadRecord) -> Vec<u8> {
        let mut bytes = Vec::new();
        record.write(&stable::LINEAGE, &mut Fields::to(&mut bytes));
        bytes
    }

    fn read(payload: &[u8]) -> Result<HeadRecord, Fault> {
        HeadRecord::read(&stable::LINEAGE, &Payload::read(payload)?)
    }

    /// Returns the bytes that a change of the head adds to the record.
    fn added(change: impl FnOnce(&mut Head)) -> Vec<u8> {
        let mut record = stable::head();
        let without = written(&record);
        change(&mut record.head);
        let with = written(&record);
        assert_eq!(with[..without.len()], without);
        assert_eq!(read(&with), Ok(record));
        with[without.len()..].to_vec()
    }

    /// The encoding of fields that were added later never changes. A field is absent at its default value.
    #[test]
    fn what_came_later_is_stable() {
        let pinned = added(|head| head.pinned_away = Arc::new(Ranges::of(Sequence(4), Sequence(5))));
        assert_eq!(pinned, [0xf2, 0x01, 0x02, 0x04, 0x01]);
        let changed = added(|head| head.change = ChangeId([7; 16]));
        assert_eq!(changed, [&[0x9a, 0x02, 16][..], &[7; 16]].concat());
        assert_eq!(added(|head| head.window_tokens = Some(0)), [0xa0, 0x02, 0]);
        assert_eq!(added(|head| head.window_tokens = Some(300)), [0xa0, 0x02, 0xac, 0x02]);
        let call = |caller, answer| AbandonedCall { id: "c6".into(), caller: Sequence(caller), answer };
        let abandoned = added(|head| head.abandoned = [call(2, None), call(3, Some(Sequence(9)))].into());
        let first = [0xaa, 0x02, 6, 0x0a, 2, b'c', b'6', 0x10, 2];
        assert_eq!(added(|head| head.stored_bytes = Some(300)), [0xb0, 0x02, 0xac, 0x02]);
        assert_eq!(abandoned, [&first[..], &[0xaa, 0x02, 8, 0x0a, 2, b'c', b'6', 0x10, 3, 0x18, 9]].concat());
    }

    /// An older program can skip the other fields without harm.
    #[test]
    fn only_compactions_raise_the_version() {
        let version = |change: fn(&mut Head)| {
            let mut record = stable::head();
            change(&mut record.head);
            record.version()
        };
        assert_eq!(version(|_| {}), 1);
        assert_eq!(version(|head| (head.silenced_at, head.advice_answered) = (Revision(5), 50)), 1);
        assert_eq!(version(|head| head.change = ChangeId([7; 16])), 1);
        assert_eq!(version(|head| head.window_tokens = Some(300)), 1);
        assert_eq!(version(|head| head.stored_bytes = Some(300)), 1);
        assert_eq!(version(|head| head.next_compaction = 2), 3);
        assert_eq!(version(|head| head.branch = LineageId([9; 16])), 2);
        assert_eq!(version(|head| (head.branch, head.next_compaction) = (LineageId([9; 16]), 2)), 3);
    }

    /// Returns the payload without one of its fields.
    fn without(number: u32, mut payload: &[u8]) -> Vec<u8> {
        let mut rest = Vec::new();
        while !payload.is_empty() {
            let all = payload;
            let (field, wire) = decode_key(&mut payload).unwrap();
            skip_field(wire, field, &mut payload, DecodeContext::default()).unwrap();
            if field != number {
                rest.extend(&all[..all.len() - payload.len()]);
            }
        }
        rest
    }

    proptest! {
        /// A record without one of the later fields is readable.
        #[test]
        fn a_field_may_be_absent(record in given::compacted_head()) {
            let payload = written(&record);
            for number in 15..40 {
                prop_assert!(read(&without(number, &payload)).is_ok());
            }
        }
    }
}
