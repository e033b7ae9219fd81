//! The fields that utterd adds to a conversation of seed 000.
//!
//! - The state values of a conversation, in the form of gRPC's JSON: a name, and `json` as text or `data` in base64.
//! - The summaries of what was said before a conversation, in the form of seed 000's `ConversationSummary`. Their text is
//!   what was imported, with its dates.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{
    fields::{array, object, optional_text, read_time},
    place::Place,
    time,
};
use utterd_domain::{
    Result,
    segment::{Imported, ImportedSummary},
    state::{StateContent, StateValue},
};

/// The field of a conversation that holds them.
pub(super) const STATE: &str = "utterdState";

/// Writes the values.
pub(super) fn write_state(values: &[Arc<StateValue>]) -> Value {
    let value = |value: &Arc<StateValue>| match &value.content {
        StateContent::Json(text) => json!({"name": value.name, "json": text}),
        StateContent::Bytes(bytes) => json!({"name": value.name, "data": STANDARD.encode(bytes)}),
    };
    values.iter().map(value).collect()
}

/// Reads the values, by name.
pub(super) fn read_state(value: Value, place: &Place<'_>) -> Result<Vec<(Box<str>, StateContent)>> {
    let values = array(value, place, "an array of values")?.into_iter().enumerate();
    values.map(|(index, value)| read_value(value, &place.index(index))).collect()
}

fn read_value(value: Value, place: &Place<'_>) -> Result<(Box<str>, StateContent)> {
    let fields = object(value, place, "a value: an object with a name, and json or data")?;
    let name = optional_text(&fields, "name", place)?.unwrap_or_default();
    let content = match (optional_text(&fields, "json", place)?, optional_text(&fields, "data", place)?) {
        (Some(text), None) => {
            let wrong = |error| place.field("json").refuse(format!("is not JSON: {error}"));
            serde_json::from_str::<IgnoredAny>(text).map_err(wrong)?;
            StateContent::Json(text.into())
        }
        (None, Some(text)) => {
            let wrong = |error| place.field("data").refuse(format!("is not base64: {error}"));
            StateContent::Bytes(STANDARD.decode(text).map_err(wrong)?.into())
        }
        _ => return Err(place.refuse("does not have exactly one of json and data")),
    };
    Ok((name.into(), content))
}

/// The field of a conversation that holds them.
pub(super) const SUMMARIES: &str = "utterdSummaries";

/// Writes the summaries.
pub(super) fn write_summaries(summaries: &[ImportedSummary]) -> Value {
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
pub fn read_summaries(value: Value, place: &Place<'_>) -> Result<Vec<ImportedSummary>> {
    let summaries = array(value, place, "an array of summaries")?.into_iter().enumerate();
    summaries.map(|(index, value)| read_summary(value, &place.index(index))).collect()
}

fn read_summary(value: Value, place: &Place<'_>) -> Result<ImportedSummary> {
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
