//! A compaction, and what an undo of it brings back.

use std::{collections::HashSet, sync::Arc};

use prost::Message;

use crate::{
    domain::{LineageId, Timestamp, compaction::Compaction, segment::Segment},
    store::durable::key_value::Key,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    fields::Fields,
    kind::message,
    number::{Numbered, numbered, revision},
    ranges::{stepped, steps},
    segment::{StoredSegment, write_segment},
};

/// The kind of compactions, by the lineage of the conversation's identity and their number.
#[derive(Clone, Copy, Debug)]
pub struct Compactions;

/// What the keys of all compactions of a conversation begin with; they are by ascending number.
pub fn compactions_of(lineage: LineageId) -> Key {
    let mut prefix = KeyWriter::of(Compactions::NUMBER);
    prefix.lineage(lineage);
    prefix.done()
}

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    revision: u64,
    #[prost(sint64, tag = "2")]
    time: i64,
    #[prost(uint32, tag = "3")]
    cause: u32,
    #[prost(uint64, repeated, tag = "4")]
    compacted: Vec<u64>,
    #[prost(uint64, tag = "5")]
    count: u64,
    #[prost(uint64, tag = "6")]
    kept: u64,
    #[prost(uint64, tag = "7")]
    source_tokens: u64,
    #[prost(uint64, tag = "8")]
    tokens_before: u64,
    #[prost(uint64, tag = "9")]
    tokens_after: u64,
    #[prost(string, optional, tag = "10")]
    model: Option<String>,
    #[prost(sint64, optional, tag = "11")]
    undone: Option<i64>,
    /// Absent when it cannot be undone any more.
    #[prost(message, optional, tag = "12")]
    folded: Option<StoredFolded>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredFolded {
    #[prost(message, repeated, tag = "1")]
    segments: Vec<StoredNumbered>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredNumbered {
    #[prost(uint32, tag = "1")]
    number: u32,
    #[prost(message, optional, tag = "2")]
    segment: Option<StoredSegment>,
}

impl Kind for Compactions {
    const NUMBER: u8 = 18;
    const VERSION: u8 = 1;
    const NAME: &'static str = "compaction";
    type Key = (LineageId, u32);
    type Value = Compaction;

    fn write_key((lineage, number): &(LineageId, u32), to: &mut KeyWriter) {
        to.lineage(*lineage).number(*number);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(LineageId, u32), Fault> {
        let (lineage, number) = (parts.lineage()?, parts.number()?);
        match number {
            0 => Err(Fault::wrong("the compaction's number", "is 0; compactions count from 1")),
            number => Ok((lineage, number)),
        }
    }

    fn show((lineage, number): &(LineageId, u32)) -> String {
        format!("{number} of {lineage}")
    }

    fn room(value: &Compaction) -> usize {
        value.memory_bytes()
    }

    fn write(_: &(LineageId, u32), value: &Compaction, to: &mut Vec<u8>) {
        let mut to = Fields::to(to);
        to.number(1, value.revision.0);
        to.signed(2, value.time.0);
        to.number(3, value.cause.number());
        to.packed(4, || steps(&value.compacted));
        to.number(5, value.count);
        to.number(6, value.kept);
        to.number(7, value.source_tokens);
        to.number(8, value.tokens_before);
        to.number(9, value.tokens_after);
        value.model.iter().for_each(|model| to.present_text(10, model));
        value.undone.iter().for_each(|time| to.present_signed(11, time.0));
        if let Some(folded) = &value.folded {
            to.message(12, |to| folded.iter().for_each(|segment| write_numbered(segment, to)));
        }
    }

    fn read((_, number): &(LineageId, u32), payload: &[u8]) -> Result<Compaction, Fault> {
        let stored: Stored = message(payload)?;
        let compaction = Compaction {
            number: *number,
            revision: revision("the revision", stored.revision)?,
            time: Timestamp(stored.time),
            cause: numbered(stored.cause)?,
            compacted: stepped("the compacted ranges", &stored.compacted)?,
            count: stored.count,
            kept: stored.kept,
            source_tokens: stored.source_tokens,
            tokens_before: stored.tokens_before,
            tokens_after: stored.tokens_after,
            model: stored.model.map(Into::into),
            undone: stored.undone.map(Timestamp),
            folded: stored.folded.map(folded).transpose()?,
        };
        check(&compaction).map(|()| compaction)
    }
}

fn write_numbered(segment: &Segment, to: &mut Fields<'_>) {
    to.message(1, |to| {
        to.number(1, segment.number);
        to.message(2, |to| write_segment(segment, to));
    });
}

fn folded(stored: StoredFolded) -> Result<Arc<[Arc<Segment>]>, Fault> {
    const PART: &str = "a folded segment";
    let mut numbers = HashSet::new();
    let segment = |StoredNumbered { number, segment }: StoredNumbered| match segment {
        _ if number == 0 => Err(Fault::wrong(PART, "has the number 0; segments count from 1")),
        _ if !numbers.insert(number) => Err(Fault::wrong(PART, format_args!("is not the only {number}"))),
        None => Err(Fault::wrong(PART, "has a number and nothing else")),
        Some(segment) => segment.segment(number).map(Arc::new),
    };
    stored.segments.into_iter().map(segment).collect()
}

/// What the fields of a compaction owe each other.
fn check(compaction: &Compaction) -> Result<(), Fault> {
    let undone = compaction.undone.is_some() && compaction.folded.is_some();
    let wrong = [
        ("the revision", "is 0; a revision made it", compaction.revision.0 == 0),
        ("the compacted ranges", "hold more than left", compaction.compacted.count() > compaction.count),
        ("the folded segments", "are kept of what is undone", undone),
    ];
    match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
        Some((part, problem, _)) => Err(Fault::wrong(part, problem)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::given, *};

    proptest! {
        #[test]
        fn is_written_as_prost_writes_it(compaction in given::compaction()) {
            let mut payload = Vec::new();
            Compactions::write(&(LineageId([1; 16]), compaction.number), &compaction, &mut payload);
            prop_assert_eq!(Stored::decode(&*payload).unwrap().encode_to_vec(), payload);
        }
    }
}
