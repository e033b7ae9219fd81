//! A segment of a conversation's summary.

use utterd_domain::{
    LineageId,
    extractive::{Item, Sentence},
    segment::{Awaits, Imported, LlmText, Segment, UNSAID},
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
    segment.sentences.put(3, to);
    segment.source_tokens.put(4, to);
    segment.llm_text.put(5, to);
    segment.awaits.put(6, to);
    segment.imported.put(7, to);
}

/// Reads the segment with this number.
pub(super) fn segment(number: u32, from: &Payload<'_>) -> Result<Segment, Fault> {
    let segment = Segment {
        number,
        level: Field::get("the level", 1, from)?,
        covers: Field::get("the ranges that it covers", 2, from)?,
        sentences: Field::get("a sentence", 3, from)?,
        tokens: 0,
        source_tokens: Field::get("the tokens of the source", 4, from)?,
        llm_text: Field::get("the model's text", 5, from)?,
        awaits: Field::get("the awaited text", 6, from)?,
        imported: Field::get("the import", 7, from)?,
    };
    check_sequences(&segment)?;
    let tokens = segment.lines().iter().try_fold(0u32, |sum, line| sum.checked_add(line.tokens));
    let tokens = tokens.ok_or_else(|| Fault::wrong("the tokens", "are too many to add up"))?;
    Ok(Segment { tokens, ..segment })
}

/// Checks that all lines have sequences, except for those of an import.
fn check_sequences(segment: &Segment) -> Result<(), Fault> {
    let imported = segment.imported.is_some();
    let has = |line: &Sentence| line.sequence != UNSAID;
    let mut llm_lines = segment.llm_text.iter().flat_map(|llm_text| &llm_text.lines);
    match segment.sentences.iter().all(|line| has(line) != imported) && llm_lines.all(has) {
        true => Ok(()),
        false => Err(Fault::wrong("the sequence of a line", "is missing, or is given for an imported line")),
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

/// Field 1 is absent if the line was imported.
impl Message for Sentence {
    fn write(&self, to: &mut Fields<'_>) {
        self.sequence.put(1, to);
        self.text.put(2, to);
        self.tokens.put(3, to);
        self.weight.put(4, to);
        self.kind.put(5, to);
        self.items.iter().for_each(|item| item.put(6, to));
        self.result.put(7, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        let text: Box<str> = Field::get("the text of a line", 2, from)?;
        Ok(Self {
            sequence: sequence_or_0("the sequence of a line", 1, from)?,
            items: items(&text, from)?,
            text,
            tokens: Field::get("the tokens of a line", 3, from)?,
            weight: Field::get("the weight of a line", 4, from)?,
            kind: Field::get("the kind of a line", 5, from)?,
            result: Field::get("the result that a line quotes", 7, from)?,
        })
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
