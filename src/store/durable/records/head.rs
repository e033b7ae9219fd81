//! The part of a conversation's head that changes with almost every change.

use std::sync::Arc;

use crate::domain::{
    Conversation, ConversationId, ConversationKey, Encoding, Ending, Head, Identity, LineageId, Namespace,
    Policy, RecipientId, Sequence, Timestamp, exchange::OpenExchange, segment::Summary,
};

use super::{
    Description, Fault, KeyReader, KeyWriter, Kind,
    conversation::lineage,
    field_value::{FieldValue, text},
    fields::Fields,
    number::sequence,
    payload::Payload,
};

/// A head as it is stored, with what the summary is known by.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadRecord {
    /// What has records of its own is not read with it: of the identity all but the lineage, the policy,
    /// the description and the ending. See [`HeadRecord::complete`].
    pub head: Head,
    /// The number of the next segment, from 1.
    pub next_segment: u32,
    /// How many segments there are.
    pub segments: u32,
}

impl HeadRecord {
    /// What is stored of a conversation's head, and of its summary, under its lineage.
    pub fn of(head: &Head, summary: &Summary) -> Self {
        let segments = summary.segments().len() as u32;
        Self { head: head.clone(), next_segment: summary.next_number(), segments }
    }

    /// The whole head, with what is stored beside it.
    pub fn complete(
        self,
        identity: Arc<Identity>,
        policy: Policy,
        description: Description,
        ended: Option<Ending>,
    ) -> Head {
        let Description { title, labels, shares, forked_from } = description;
        let ended = ended.map(Arc::new);
        Head { identity, policy, title, labels, shares, forked_from, ended, ..self.head }
    }

    /// One in which nothing was read yet.
    pub(super) fn blank(lineage: LineageId) -> Self {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(0) },
            recipient: RecipientId::default(),
            lineage,
            start_time: Timestamp(0),
            encoding: Encoding::default(),
        };
        let Conversation { head, .. } = Conversation::new(identity, Policy::ROLLING);
        Self { head, next_segment: 0, segments: 0 }
    }
}

/// One field: its number, and how it is written and read. Fields are read in the order in which they stand
/// in [`FIELDS`], so that one may be told by those before it.
struct Field {
    number: u32,
    write: fn(&HeadRecord, u32, &mut Fields<'_>),
    read: fn(&mut HeadRecord, u32, &Payload<'_>) -> Result<(), Fault>,
}

/// A field that is written as it is.
macro_rules! field {
    ($number:literal, $part:literal, $($place:ident).+) => {
        Field {
            number: $number,
            write: |record, number, to| record.$($place).+.write(number, to),
            read: |record, number, from| {
                record.$($place).+ = FieldValue::read($part, number, from)?;
                Ok(())
            },
        }
    };
}

/// All that is stored, by ascending number.
const FIELDS: [Field; 23] = [
    field!(1, "the revision", head.revision),
    field!(2, "the time of the update", head.update_time),
    // How long before the update.
    Field { number: 3, write: write_said_time, read: read_said_time },
    Field { number: 4, write: |record, number, to| record.head.next.write(number, to), read: read_next },
    field!(5, "the turn", head.turn),
    field!(6, "whether only instructions were said", head.only_instructions),
    Field { number: 7, write: write_open, read: read_open },
    field!(8, "whether an answer is awaited", head.awaits_answer),
    field!(9, "the ranges that left", head.left),
    // Absent when all that left is archived.
    Field { number: 10, write: write_archived, read: read_archived },
    field!(11, "the utterances stored", head.stored),
    field!(12, "the revision that erased", head.erased_at),
    field!(13, "the number of the next segment", next_segment),
    field!(14, "the segments", segments),
    field!(20, "the trunks", head.trunks),
    // Absent when it is the conversation's lineage.
    Field { number: 21, write: write_branch, read: read_branch },
    field!(22, "whether the branch is fresh", head.fresh_branch),
    field!(30, "the ranges pinned in the archive", head.pinned_away),
    field!(31, "the revision that forgot or restored", head.silenced_at),
    field!(32, "the advice that was answered", head.advice_answered),
    field!(33, "the last compaction", head.compacted_at),
    // How many were made.
    Field { number: 34, write: write_compactions, read: read_compactions },
    field!(35, "the change", head.change),
];

fn write_said_time(HeadRecord { head, .. }: &HeadRecord, number: u32, to: &mut Fields<'_>) {
    to.signed(number, head.update_time.0.wrapping_sub(head.said_time.0));
}

fn read_said_time(
    HeadRecord { head, .. }: &mut HeadRecord,
    number: u32,
    from: &Payload<'_>,
) -> Result<(), Fault> {
    head.said_time = Timestamp(head.update_time.0.wrapping_sub(from.signed(number)?));
    Ok(())
}

fn read_next(record: &mut HeadRecord, number: u32, from: &Payload<'_>) -> Result<(), Fault> {
    record.head.next = sequence("the next sequence", from.number(number)?)?;
    Ok(())
}

/// Field 1: how far the unit starts before the next sequence. Field 2: the calls that wait.
fn write_open(HeadRecord { head, .. }: &HeadRecord, number: u32, to: &mut Fields<'_>) {
    if let Some(open) = &head.open {
        to.message(number, |to| {
            to.number(1, head.next.0.wrapping_sub(open.unit.0));
            open.calls.iter().for_each(|call| to.present_text(2, call));
        });
    }
}

fn read_open(HeadRecord { head, .. }: &mut HeadRecord, number: u32, from: &Payload<'_>) -> Result<(), Fault> {
    let open = from.message(number)?.map(|open| exchange(&open, head.next)).transpose()?;
    head.open = open.map(Arc::new);
    Ok(())
}

fn exchange(stored: &Payload<'_>, next: Sequence) -> Result<OpenExchange, Fault> {
    const PART: &str = "the open exchange";
    let (back, calls) = (stored.number(1)?, stored.repeated(2)?);
    if calls.is_empty() {
        return Err(Fault::wrong(PART, "waits for no call"));
    }
    if !(1..next.0).contains(&back) {
        return Err(Fault::wrong(PART, format_args!("starts {back} before {next}")));
    }
    Ok(OpenExchange {
        unit: Sequence(next.0 - back),
        calls: calls.into_iter().map(text).collect::<Result<_, _>>()?,
    })
}

fn write_archived(HeadRecord { head, .. }: &HeadRecord, number: u32, to: &mut Fields<'_>) {
    if head.archived != head.left {
        to.message(number, |to| head.archived.write(1, to));
    }
}

fn read_archived(
    HeadRecord { head, .. }: &mut HeadRecord,
    number: u32,
    from: &Payload<'_>,
) -> Result<(), Fault> {
    head.archived = match from.message(number)? {
        None => head.left.clone(),
        Some(archived) => FieldValue::read("the archived ranges", 1, &archived)?,
    };
    Ok(())
}

fn write_branch(HeadRecord { head, .. }: &HeadRecord, number: u32, to: &mut Fields<'_>) {
    if head.branch != head.identity.lineage {
        to.bytes(number, &head.branch.0);
    }
}

fn read_branch(record: &mut HeadRecord, number: u32, from: &Payload<'_>) -> Result<(), Fault> {
    if let stored @ [_, ..] = from.bytes(number)? {
        record.head.branch = lineage("the branch", stored)?;
    }
    Ok(())
}

fn write_compactions(record: &HeadRecord, number: u32, to: &mut Fields<'_>) {
    to.number(number, record.head.next_compaction.wrapping_sub(1));
}

fn read_compactions(record: &mut HeadRecord, number: u32, from: &Payload<'_>) -> Result<(), Fault> {
    const PART: &str = "the compactions";
    let made = u32::read(PART, number, from)?;
    let next = made.checked_add(1);
    record.head.next_compaction = next.ok_or_else(|| Fault::wrong(PART, "are too many to number"))?;
    Ok(())
}

/// The kind of heads, by the lineage that the conversation writes to.
#[derive(Clone, Copy, Debug)]
pub struct Heads;

impl Kind for Heads {
    const NUMBER: u8 = 3;
    const VERSION: u8 = 3;
    const NAME: &'static str = "head";
    type Key = LineageId;
    type Value = HeadRecord;

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
    fn version(HeadRecord { head, .. }: &HeadRecord) -> u8 {
        match head.is_forked() {
            _ if head.next_compaction > 1 => 3,
            true => 2,
            false => 1,
        }
    }

    fn write(_: &LineageId, value: &HeadRecord, to: &mut Vec<u8>) {
        let mut to = Fields::to(to);
        FIELDS.iter().for_each(|field| (field.write)(value, field.number, &mut to));
    }

    fn read(lineage: &LineageId, payload: &[u8]) -> Result<HeadRecord, Fault> {
        let (mut record, from) = (HeadRecord::blank(*lineage), Payload::read(payload)?);
        for field in &FIELDS {
            (field.read)(&mut record, field.number, &from)?;
        }
        check(&record).map(|()| record)
    }
}

/// What the fields owe each other.
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

    use super::{
        super::tests::{given, stable},
        *,
    };
    use crate::domain::{ChangeId, Ranges, Revision};

    fn written(record: &HeadRecord) -> Vec<u8> {
        let mut bytes = Vec::new();
        Heads::write(&stable::LINEAGE, record, &mut bytes);
        bytes
    }

    /// What a field of a head adds to the record that has none of it.
    fn added(change: impl FnOnce(&mut Head)) -> Vec<u8> {
        let mut record = stable::head();
        let without = written(&record);
        change(&mut record.head);
        let with = written(&record);
        assert_eq!(with[..without.len()], without);
        assert_eq!(Heads::read(&stable::LINEAGE, &with), Ok(record));
        with[without.len()..].to_vec()
    }

    /// Fields that came later; they are never changed, and absent while they say nothing.
    #[test]
    fn what_came_later_is_stable() {
        let pinned = added(|head| head.pinned_away = Arc::new(Ranges::of(Sequence(4), Sequence(5))));
        assert_eq!(pinned, [0xf2, 0x01, 0x02, 0x04, 0x01]);
        let changed = added(|head| head.change = ChangeId([7; 16]));
        assert_eq!(changed, [&[0x9a, 0x02, 16][..], &[7; 16]].concat());
    }

    /// What an older program would forget of it is of no consequence, but for compactions.
    #[test]
    fn only_compactions_raise_the_version() {
        let version = |change: fn(&mut Head)| {
            let mut record = stable::head();
            change(&mut record.head);
            Heads::version(&record)
        };
        assert_eq!(version(|_| {}), 1);
        assert_eq!(version(|head| (head.silenced_at, head.advice_answered) = (Revision(5), 50)), 1);
        assert_eq!(version(|head| head.change = ChangeId([7; 16])), 1);
        assert_eq!(version(|head| head.next_compaction = 2), 3);
        assert_eq!(version(|head| head.branch = LineageId([9; 16])), 2);
        assert_eq!(version(|head| (head.branch, head.next_compaction) = (LineageId([9; 16]), 2)), 3);
    }

    #[test]
    fn fields_ascend() {
        assert!(FIELDS.is_sorted_by(|one, next| one.number < next.number));
    }

    proptest! {
        /// A field that is left out reads as it was before there was the field.
        #[test]
        fn a_field_may_be_absent(record in given::forked_head()) {
            for field in FIELDS.iter().skip(14) {
                let mut payload = Vec::new();
                let mut to = Fields::to(&mut payload);
                let others = FIELDS.iter().filter(|other| other.number != field.number);
                others.for_each(|other| (other.write)(&record, other.number, &mut to));
                prop_assert!(Heads::read(&record.head.identity.lineage, &payload).is_ok());
            }
        }
    }
}
