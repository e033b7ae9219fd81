//! What a model told of a segment, and that one is to tell it.

use std::sync::Arc;

use prost::Message;

use crate::domain::{
    Timestamp,
    extractive::Sentence,
    segment::{Awaits, LlmText},
};

use super::{
    Fault,
    fields::Fields,
    number::sequence,
    ranges::{stepped, steps},
};

#[derive(Clone, PartialEq, Message)]
pub(super) struct StoredRetold {
    #[prost(message, repeated, tag = "1")]
    lines: Vec<StoredLine>,
    #[prost(string, tag = "2")]
    model: String,
    #[prost(uint32, tag = "3")]
    prompt: u32,
    #[prost(uint64, repeated, tag = "4")]
    from: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredLine {
    /// How far its sequence is behind that of the line before, or behind 0; less than 0 where it is before.
    #[prost(sint64, tag = "1")]
    step: i64,
    #[prost(string, tag = "2")]
    text: String,
    #[prost(uint32, tag = "3")]
    tokens: u32,
    #[prost(uint32, tag = "4")]
    weight: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StoredAwaits {
    #[prost(sint64, tag = "1")]
    since: i64,
    #[prost(string, tag = "2")]
    told: String,
    #[prost(uint64, repeated, tag = "3")]
    from: Vec<u64>,
    #[prost(string, repeated, tag = "4")]
    focus: Vec<String>,
}

pub(super) fn write_retold(value: &LlmText, to: &mut Fields<'_>) {
    let mut before = 0;
    for line in &value.lines {
        to.message(1, |to| {
            to.signed(1, line.sequence.0.wrapping_sub(before).cast_signed());
            to.text(2, &line.text);
            to.number(3, line.tokens);
            to.number(4, line.weight);
        });
        before = line.sequence.0;
    }
    to.text(2, &value.model);
    to.number(3, value.prompt);
    to.packed(4, || steps(&value.from));
}

pub(super) fn write_awaits(value: &Awaits, to: &mut Fields<'_>) {
    to.signed(1, value.since.0);
    to.text(2, &value.told);
    to.packed(3, || steps(&value.from));
    value.focus.iter().for_each(|area| to.present_text(4, area));
}

impl StoredRetold {
    pub(super) fn retold(self) -> Result<LlmText, Fault> {
        Ok(LlmText {
            lines: lines(self.lines)?,
            model: self.model.into(),
            prompt: self.prompt,
            from: stepped("the ranges that a model told it from", &self.from)?,
        })
    }
}

impl StoredAwaits {
    pub(super) fn awaits(self) -> Result<Awaits, Fault> {
        Ok(Awaits {
            since: Timestamp(self.since),
            told: self.told.into(),
            from: stepped("the ranges that was told from before", &self.from)?,
            focus: self.focus.into_iter().collect::<Arc<[String]>>(),
        })
    }
}

fn lines(stored: Vec<StoredLine>) -> Result<Vec<Sentence>, Fault> {
    let mut before = 0u64;
    let line = |stored: StoredLine| {
        before = before.wrapping_add_signed(stored.step);
        let sequence = sequence("the sequence of a line", before)?;
        Ok(Sentence { sequence, text: stored.text.into(), tokens: stored.tokens, weight: stored.weight })
    };
    stored.into_iter().map(line).collect()
}
