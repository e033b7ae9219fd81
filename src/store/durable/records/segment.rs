//! A segment of a conversation's summary.

use std::sync::Arc;

use crate::domain::{
    LineageId,
    extractive::{Item, LineKind, Sentence},
    segment::{Awaits, Imported, LlmText, Segment, UNSAID},
};

use super::{
    Fault,
    field::{Field, Message, message, unzigzag, zigzag},
    fields::Fields,
    kind::RecordValue,
    number::sequence,
    payload::Payload,
};

impl RecordValue<(LineageId, u32)> for Segment {
    /// A reader that skipped a model's text would show, and count, the sentences instead. One that skipped
    /// the import would not know what the segment covers. One that skipped the items of lists would forget
    /// too little of them. One that skipped the field for lines in any order would lose these lines. One that
    /// skipped the results that lines quote would keep erased text.
    fn version(&self) -> u8 {
        match self.llm_text.is_some() || self.awaits.is_some() {
            _ if quotes_results(self) => 5,
            _ if lists(self) => 4,
            _ if self.imported.is_some() => 3,
            true => 2,
            false => 1,
        }
    }

    fn room(&self) -> usize {
        let sentences = self.sentences.iter().map(|sentence| sentence.text.len() + 12);
        32 + sentences.sum::<usize>()
    }

    fn write(&self, _: &(LineageId, u32), to: &mut Fields<'_>) {
        write_segment(self, to);
    }

    fn read((_, number): &(LineageId, u32), from: &Payload<'_>) -> Result<Self, Fault> {
        segment(*number, from)
    }
}

/// Writes a segment without its number, and without its tokens, which are the sum of its lines' tokens.
pub(super) fn write_segment(segment: &Segment, to: &mut Fields<'_>) {
    segment.level.put(1, to);
    segment.covers.put(2, to);
    let order = order(segment);
    let number = if order == Order::Any { 23 } else { 3 };
    put_lines(&segment.sentences, number, order, to);
    segment.source_tokens.put(4, to);
    segment.llm_text.put(20, to);
    segment.awaits.put(21, to);
    segment.imported.put(22, to);
}

/// Reads the segment with this number.
pub(super) fn segment(number: u32, from: &Payload<'_>) -> Result<Segment, Fault> {
    let imported = Option::<Imported>::get("the import", 22, from)?;
    let order = if imported.is_some() { Order::Unsaid } else { Order::Ascending };
    let mut sentences = lines("the sequence of a sentence", 3, order, from)?;
    sentences.extend(lines("the sequence of a sentence", 23, Order::Any, from)?);
    if imported.is_some() && sentences.iter().any(|line| line.sequence != UNSAID) {
        return Err(Fault::wrong("the sequence of a sentence", "is given, but the segment was imported"));
    }
    let segment = Segment {
        number,
        level: Field::get("the level", 1, from)?,
        covers: Field::get("the ranges that it covers", 2, from)?,
        sentences,
        tokens: 0,
        source_tokens: Field::get("the tokens of the source", 4, from)?,
        llm_text: Option::<Arc<LlmText>>::get("the model's text", 20, from)?,
        awaits: Option::<Arc<Awaits>>::get("the awaited text", 21, from)?,
        imported,
    };
    let tokens = segment.lines().iter().try_fold(0u32, |sum, line| sum.checked_add(line.tokens));
    let tokens = tokens.ok_or_else(|| Fault::wrong("the tokens", "are too many to add up"))?;
    Ok(Segment { tokens, ..segment })
}

impl Message for LlmText {
    fn write(&self, to: &mut Fields<'_>) {
        put_lines(&self.lines, 1, Order::Any, to);
        self.model.put(2, to);
        self.prompt.put(3, to);
        self.from.put(4, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            lines: lines("the sequence of a line", 1, Order::Any, from)?,
            model: Field::get("the model", 2, from)?,
            prompt: Field::get("the version of the prompt", 3, from)?,
            from: Field::get("the ranges of the model's text", 4, from)?,
        })
    }
}

message! {
    Awaits {
        1 since: "the start of the wait",
        2 told: "the earlier text",
        3 from: "the ranges of the earlier text",
        4 focus: "the focus",
    }
}

message! {
    Imported {
        1 start: "the start of what was imported",
        2 end: "the end of what was imported",
        3 conversations: "the conversations that were imported",
    }
}

/// Whether the segment has lines that versions before 4 cannot read.
pub(super) fn lists(segment: &Segment) -> bool {
    let is_plain = |line: &Sentence| line.kind == LineKind::Said && line.items.is_empty();
    let told = segment.llm_text.iter().flat_map(|llm_text| &llm_text.lines);
    order(segment) == Order::Any || !segment.sentences.iter().chain(told).all(is_plain)
}

/// Whether hard-forgetting a result alone, without its call, removes any of the segment's lines or items.
pub(super) fn quotes_results(segment: &Segment) -> bool {
    let told = segment.llm_text.iter().flat_map(|llm_text| &llm_text.lines);
    let quotes =
        |line: &Sentence| line.result.is_some() || line.items.iter().any(|item| item.result.is_some());
    segment.sentences.iter().chain(told).any(quotes)
}

/// Returns the order of the sentences. Lines of several kinds can be in any order.
fn order(segment: &Segment) -> Order {
    match segment.sentences.is_sorted_by_key(|line| line.sequence) {
        _ if segment.imported.is_some() => Order::Unsaid,
        true => Order::Ascending,
        false => Order::Any,
    }
}

message! {
    Item {
        1 sequence: "the sequence of an item",
        2 start: "the start of an item",
        3 end: "the end of an item",
        4 weight: "the weight of an item",
        5 result: "the result that an item depends on",
    }
}

/// The order of lines by their sequences.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Ascending,
    Any,
    /// The lines have no sequences.
    Unsaid,
}

/// Writes the lines. Field 1 of each is the distance of its sequence from the previous line's, or from 0;
/// signed if the lines can be in any order.
fn put_lines(lines: &[Sentence], number: u32, order: Order, to: &mut Fields<'_>) {
    let mut before = 0;
    for line in lines {
        let step = line.sequence.0.wrapping_sub(before);
        let step = match order {
            Order::Ascending | Order::Unsaid => step,
            Order::Any => zigzag(step.cast_signed()),
        };
        to.message(number, |to| {
            step.put(1, to);
            line.text.put(2, to);
            line.tokens.put(3, to);
            line.weight.put(4, to);
            if line.kind != LineKind::Said {
                line.kind.put(5, to);
            }
            line.items.iter().for_each(|item| item.put(6, to));
            line.result.put(7, to);
        });
        before = line.sequence.0;
    }
}

fn lines(part: &'static str, number: u32, order: Order, from: &Payload<'_>) -> Result<Vec<Sentence>, Fault> {
    let mut before = 0u64;
    let mut lines = Vec::new();
    for stored in from.all(number) {
        let from = stored.message("a line")?;
        let step = Field::get(part, 1, &from)?;
        before = match order {
            Order::Ascending => before.saturating_add(step),
            Order::Unsaid => UNSAID.0,
            Order::Any => before.wrapping_add_signed(unzigzag(step)),
        };
        let text: Box<str> = Field::get("the text of a line", 2, &from)?;
        lines.push(Sentence {
            kind: Option::get("the kind of a line", 5, &from)?.unwrap_or_default(),
            items: items(&text, &from)?,
            sequence: match order {
                Order::Unsaid => UNSAID,
                Order::Ascending | Order::Any => sequence(part, before)?,
            },
            text,
            result: Field::get("the result that a line quotes", 7, &from)?,
            tokens: Field::get("the tokens of a line", 3, &from)?,
            weight: Field::get("the weight of a line", 4, &from)?,
        });
    }
    Ok(lines)
}

/// Reads the items of a line, each a part of its text.
fn items(text: &str, from: &Payload<'_>) -> Result<Box<[Item]>, Fault> {
    const PART: &str = "the items of a line";
    let items: Vec<Item> = Field::get(PART, 6, from)?;
    let is_part = |item: &Item| text.get(item.start as usize..item.end as usize).is_some();
    match items.iter().all(is_part) {
        true => Ok(items.into()),
        false => Err(Fault::wrong(PART, "are not parts of its text")),
    }
}
