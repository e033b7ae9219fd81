//! A segment of a conversation's summary.

use std::sync::Arc;

use utterd_domain::{
    LineageId, Sequence,
    extract::{Item, ItemMarks, Kind, Line, Seen},
    segment::{Awaits, Imported, LlmText, Segment},
};

use super::{
    Fault,
    field::{Field, Message, message, sequence_or_0},
    fields::Fields,
    kind::RecordValue,
    payload::Payload,
};

impl RecordValue<(LineageId, u32)> for Segment {
    fn room(&self) -> usize {
        let lines = self.own_lines.iter().map(|line| line.text.len() + 16);
        let items = self.items.iter().map(|item| item.head.len() + item.text.len() + item.note.len() + 40);
        32 + lines.sum::<usize>() + items.sum::<usize>()
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
    segment.own_lines.put(3, to);
    segment.source_tokens.put(4, to);
    segment.llm_text.put(5, to);
    segment.awaits.put(6, to);
    segment.imported.put(7, to);
    segment.items.put(8, to);
}

/// Reads the segment with this number.
pub(super) fn segment(number: u32, from: &Payload<'_>) -> Result<Segment, Fault> {
    let segment = Segment {
        number,
        level: Field::get("the level", 1, from)?,
        covers: Field::get("the ranges that it covers", 2, from)?,
        own_lines: Field::get("a line", 3, from)?,
        tokens: 0,
        source_tokens: Field::get("the tokens of the source", 4, from)?,
        llm_text: Field::get("the model's text", 5, from)?,
        awaits: Field::get("the awaited text", 6, from)?,
        imported: Field::get("the import", 7, from)?,
        items: Field::get("an item", 8, from)?,
    };
    check_items(&segment)?;
    let tokens = segment.lines().iter().try_fold(0u32, |sum, line| sum.checked_add(line.tokens));
    let tokens = tokens.ok_or_else(|| Fault::wrong("the tokens", "are too many to add up"))?;
    Ok(Segment { tokens, ..segment })
}

/// Checks that all items of an import are imported, and none of any other segment.
fn check_items(segment: &Segment) -> Result<(), Fault> {
    let is_imported = segment.imported.is_some();
    match segment.items.iter().all(|item| (item.kind == Kind::Quoted) == is_imported) {
        true => Ok(()),
        false => {
            Err(Fault::wrong("an item", "is imported, unlike its segment, or is not, unlike its segment"))
        }
    }
}

message! {
    LlmText {
        1 lines: "a line of the model's text",
        2 model: "the model",
        3 prompt: "the version of the prompt",
        4 from: "the ranges of the model's text",
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

message! {
    Line {
        1 text: "the text of a line",
        2 tokens: "the tokens of a line",
        3 from: "the ranges of a line",
    }
}

/// Field 6 is absent if the item is from no utterance that is known.
impl Message for Item {
    fn write(&self, to: &mut Fields<'_>) {
        self.kind.put(1, to);
        self.head.put(2, to);
        self.text.put(3, to);
        self.note.put(4, to);
        self.marks.0.put(5, to);
        self.sequence.put(6, to);
        self.also.map(Sequence).put(7, to);
        self.worth.put(8, to);
        self.seen.put(9, to);
        self.day.put(10, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        let text = |part, number| <Arc<str> as Field>::get(part, number, from);
        let sequence = sequence_or_0("the sequence of an item", 6, from)?;
        let kind = Field::get("the kind of an item", 1, from)?;
        let also: Option<Sequence> = Field::get("the result that an item depends on", 7, from)?;
        let (head, said) = (text("the head of an item", 2)?, text("the text of an item", 3)?);
        let mut item = Self::new(kind, head, said, sequence.get());
        item.note = text("the note of an item", 4)?;
        item.marks = ItemMarks(Field::get("the marks of an item", 5, from)?);
        item.also = also.map(Sequence::get);
        item.worth = Field::get("the worth of an item", 8, from)?;
        item.seen = Field::get("what is known of a name", 9, from)?;
        item.day = Field::get("the day of an item", 10, from)?;
        Ok(item)
    }
}

message! {
    Seen {
        1 shape: "the shape of a name",
        2 users: "how many users name it",
        3 assistants: "how many assistants name it",
        4 calls: "how many calls name it",
        5 results: "how many results name it",
        6 last: "the last mention of a name",
        7 used: "the last use of a name",
    }
}
