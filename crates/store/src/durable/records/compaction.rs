//! A compaction, with the segments that its undo restores.

use std::{collections::HashSet, sync::Arc};

use utterd_domain::{LineageId, compaction::Compaction, segment::Segment};

use super::{
    Fault,
    field::Field,
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
    segment::{segment, write_segment},
};

impl RecordValue<(LineageId, u32)> for Compaction {
    fn room(&self) -> usize {
        self.memory_bytes()
    }

    fn write(&self, _: &(LineageId, u32), to: &mut Fields<'_>) {
        self.revision.put(1, to);
        self.time.put(2, to);
        self.cause.put(3, to);
        self.compacted.put(4, to);
        self.count.put(5, to);
        self.kept.put(6, to);
        self.keep_recent.put(7, to);
        self.summarised.put(8, to);
        self.source_tokens.put(9, to);
        self.tokens_before.put(10, to);
        self.tokens_after.put(11, to);
        self.model.put(12, to);
        self.undone.put(13, to);
        // Absent if the compaction can no longer be undone.
        if let Some(folded) = &self.folded {
            to.message(14, |to| folded.iter().for_each(|segment| write_numbered(segment, to)));
        }
    }

    fn read((_, number): &(LineageId, u32), from: &Payload<'_>) -> Result<Self, Fault> {
        let compaction = Self {
            number: *number,
            revision: Field::get("the revision", 1, from)?,
            time: Field::get("the time", 2, from)?,
            cause: Field::get("the cause", 3, from)?,
            compacted: Field::get("the compacted ranges", 4, from)?,
            count: Field::get("the count", 5, from)?,
            kept: Field::get("the kept utterances", 6, from)?,
            keep_recent: Field::get("the number to keep", 7, from)?,
            summarised: Field::get("whether it is in the summary", 8, from)?,
            source_tokens: Field::get("the tokens of the source", 9, from)?,
            tokens_before: Field::get("the tokens before", 10, from)?,
            tokens_after: Field::get("the tokens after", 11, from)?,
            model: Field::get("the model", 12, from)?,
            undone: Field::get("the time of the undo", 13, from)?,
            folded: match from.one(14) {
                Stored::Nothing => None,
                stored => Some(folded(&stored.message("what was folded")?)?),
            },
        };
        check(&compaction).map(|()| compaction)
    }
}

fn write_numbered(segment: &Segment, to: &mut Fields<'_>) {
    to.message(1, |to| {
        segment.number.put(1, to);
        to.message(2, |to| write_segment(segment, to));
    });
}

fn folded(from: &Payload<'_>) -> Result<Arc<[Arc<Segment>]>, Fault> {
    const PART: &str = "a folded segment";
    let mut numbers = HashSet::new();
    let numbered = |stored: Stored<'_>| {
        let from = stored.message(PART)?;
        match u32::get(PART, 1, &from)? {
            0 => Err(Fault::wrong(PART, "has the number 0; segments count from 1")),
            number if !numbers.insert(number) => {
                Err(Fault::wrong(PART, format_args!("is not the only one numbered {number}")))
            }
            number => segment(number, &from.one(2).message("the rest of a folded segment")?).map(Arc::new),
        }
    };
    from.all(1).map(numbered).collect()
}

/// Checks the fields of a compaction against each other.
fn check(compaction: &Compaction) -> Result<(), Fault> {
    let undone = compaction.undone.is_some() && compaction.folded.is_some();
    let wrong = [
        ("the revision", "is 0; a compaction has one", compaction.revision.0 == 0),
        ("the compacted ranges", "exceed their count", compaction.compacted.count() > compaction.count),
        ("the folded segments", "are still stored after the undo", undone),
    ];
    match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
        Some((part, problem, _)) => Err(Fault::wrong(part, problem)),
        None => Ok(()),
    }
}
