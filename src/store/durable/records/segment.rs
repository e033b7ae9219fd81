//! A segment of a conversation's summary.

use std::sync::Arc;

use prost::Message;

use crate::{
    domain::{LineageId, Sequence, extractive::Sentence, segment::Segment},
    store::durable::key_value::Key,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    fields::Fields,
    kind::message,
    number::sequence,
    ranges::{stepped, steps},
    retold::{StoredAwaits, StoredRetold, write_awaits, write_retold},
};

/// The kind of segments, by the lineage that the conversation writes to and their number.
#[derive(Clone, Copy, Debug)]
pub struct Segments;

/// What the keys of all segments of a conversation; they are by ascending number begin with.
pub fn segments_of(lineage: LineageId) -> Key {
    let mut prefix = KeyWriter::of(Segments::NUMBER);
    prefix.lineage(lineage);
    prefix.done()
}

/// A segment without its number.
#[derive(Clone, PartialEq, Message)]
pub(super) struct StoredSegment {
    #[prost(uint32, tag = "1")]
    level: u32,
    #[prost(uint64, repeated, tag = "2")]
    covers: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    sentences: Vec<StoredSentence>,
    #[prost(uint64, tag = "4")]
    source_tokens: u64,
    /// Since version 2.
    #[prost(message, optional, tag = "20")]
    retold: Option<StoredRetold>,
    /// Since version 2.
    #[prost(message, optional, tag = "21")]
    awaits: Option<StoredAwaits>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredSentence {
    /// How far its sequence is behind that of the sentence before, or behind 0.
    #[prost(uint64, tag = "1")]
    step: u64,
    #[prost(string, tag = "2")]
    text: String,
    #[prost(uint32, tag = "3")]
    tokens: u32,
    #[prost(uint32, tag = "4")]
    weight: u32,
}

impl Kind for Segments {
    const NUMBER: u8 = 6;
    const VERSION: u8 = 2;
    const NAME: &'static str = "segment";
    type Key = (LineageId, u32);
    type Value = Segment;

    fn write_key((lineage, number): &(LineageId, u32), to: &mut KeyWriter) {
        to.lineage(*lineage).number(*number);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(LineageId, u32), Fault> {
        let (lineage, number) = (parts.lineage()?, parts.number()?);
        match number {
            0 => Err(Fault::wrong("the segment's number", "is 0; segments count from 1")),
            number => Ok((lineage, number)),
        }
    }

    fn show((lineage, number): &(LineageId, u32)) -> String {
        format!("{number} of {lineage}")
    }

    /// One who passed over a model's text would show, and count, others in its place.
    fn version(value: &Segment) -> u8 {
        if value.llm_text.is_some() || value.awaits.is_some() { 2 } else { 1 }
    }

    fn room(value: &Segment) -> usize {
        let sentences = value.sentences.iter().map(|sentence| sentence.text.len() + 12);
        32 + sentences.sum::<usize>()
    }

    fn write(_: &(LineageId, u32), value: &Segment, to: &mut Vec<u8>) {
        write_segment(value, &mut Fields::to(to));
    }

    fn read((_, number): &(LineageId, u32), payload: &[u8]) -> Result<Segment, Fault> {
        message::<StoredSegment>(payload)?.segment(*number)
    }
}

/// Writes a segment without its number.
pub(super) fn write_segment(value: &Segment, to: &mut Fields<'_>) {
    to.number(1, value.level);
    to.packed(2, || steps(&value.covers));
    let mut before = 0;
    for sentence in &value.sentences {
        to.message(3, |to| {
            to.number(1, sentence.sequence.0.wrapping_sub(before));
            to.text(2, &sentence.text);
            to.number(3, sentence.tokens);
            to.number(4, sentence.weight);
        });
        before = sentence.sequence.0;
    }
    to.number(4, value.source_tokens);
    if let Some(retold) = &value.llm_text {
        to.message(20, |to| write_retold(retold, to));
    }
    if let Some(awaits) = &value.awaits {
        to.message(21, |to| write_awaits(awaits, to));
    }
}

impl StoredSegment {
    /// The segment with a number.
    pub(super) fn segment(self, number: u32) -> Result<Segment, Fault> {
        let covers = stepped("the ranges that it covers", &self.covers)?;
        let sentences = sentences(self.sentences)?;
        let retold = self.retold.map(StoredRetold::retold).transpose()?.map(Arc::new);
        let awaits = self.awaits.map(StoredAwaits::awaits).transpose()?.map(Arc::new);
        let (level, source_tokens) = (self.level, self.source_tokens);
        let segment =
            Segment { number, level, covers, sentences, tokens: 0, source_tokens, llm_text: retold, awaits };
        let tokens = segment.lines().iter().try_fold(0u32, |sum, line| sum.checked_add(line.tokens));
        let tokens = tokens.ok_or_else(|| Fault::wrong("the tokens", "are too many to add up"))?;
        Ok(Segment { tokens, ..segment })
    }
}

fn sentences(stored: Vec<StoredSentence>) -> Result<Vec<Sentence>, Fault> {
    let mut before = 0u64;
    let sentence = |stored: StoredSentence| {
        let Sequence(place) = sequence("the sequence of a sentence", before.saturating_add(stored.step))?;
        before = place;
        let (text, tokens, weight) = (stored.text.into_boxed_str(), stored.tokens, stored.weight);
        Ok(Sentence { sequence: Sequence(place), text, tokens, weight })
    };
    stored.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::given, *};

    proptest! {
        #[test]
        fn is_written_as_prost_writes_it(segment in given::segment()) {
            let mut payload = Vec::new();
            Segments::write(&(LineageId([1; 16]), segment.number), &segment, &mut payload);
            prop_assert_eq!(StoredSegment::decode(&*payload).unwrap().encode_to_vec(), payload);
        }
    }
}
