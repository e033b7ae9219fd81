//! The summaries of what was said before a conversation, in the form of seed 000's `ConversationSummary`. Their
//! text is what was imported, with its dates.

use serde_json::{Value, json};

use crate::{
    fields::{array, object, optional_text, read_time},
    place::Place,
    time,
};
use utterd_domain::{
    Result,
    segment::{Imported, ImportedSummary},
};

/// The field of a conversation that holds them.
pub(super) const FIELD: &str = "utterdSummaries";

/// Writes the summaries.
pub(super) fn write(summaries: &[ImportedSummary]) -> Value {
    let summary = |ImportedSummary { of, text }: &ImportedSummary| {
        json!({
            "startDate": time::write(of.start),
            "endDate": time::write(of.end),
            "summary": text,
            "conversationCount": of.conversations,
        })
    };
    summaries.iter().map(summary).collect()
}

/// Reads the summaries.
pub fn read(value: Value, place: &Place<'_>) -> Result<Vec<ImportedSummary>> {
    let summaries = array(value, place, "an array of summaries")?.into_iter().enumerate();
    summaries.map(|(index, value)| read_one(value, &place.index(index))).collect()
}

fn read_one(value: Value, place: &Place<'_>) -> Result<ImportedSummary> {
    let fields = object(value, place, "a summary: an object with summary, startDate and endDate")?;
    let text = |name: &str| {
        let missing = || place.field(name).refuse("is missing; accepted: text");
        optional_text(&fields, name, place)?.ok_or_else(missing)
    };
    let time = |name: &str| read_time(text(name)?, &place.field(name));
    let told = text("summary")?;
    let conversations = fields.get("conversationCount").and_then(Value::as_u64).unwrap_or(0);
    let of = Imported { start: time("startDate")?, end: time("endDate")?, conversations };
    Ok(ImportedSummary { of, text: told.into() })
}
