//! The state values of a conversation, in the form of gRPC's JSON: a name, and `json` as text or `data` in
//! base64.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{
    fields::{array, object, optional_text},
    place::Place,
};
use utterd_domain::{
    Result,
    state::{StateContent, StateValue},
};

/// The field of a conversation that holds them.
pub(super) const FIELD: &str = "utterdState";

/// Writes the values.
pub(super) fn write(values: &[Arc<StateValue>]) -> Value {
    let value = |value: &Arc<StateValue>| match &value.content {
        StateContent::Json(text) => json!({"name": value.name, "json": text}),
        StateContent::Bytes(bytes) => json!({"name": value.name, "data": STANDARD.encode(bytes)}),
    };
    values.iter().map(value).collect()
}

/// Reads the values, by name.
pub(super) fn read(value: Value, place: &Place<'_>) -> Result<Vec<(Box<str>, StateContent)>> {
    let values = array(value, place, "an array of values")?.into_iter().enumerate();
    values.map(|(index, value)| read_one(value, &place.index(index))).collect()
}

fn read_one(value: Value, place: &Place<'_>) -> Result<(Box<str>, StateContent)> {
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
