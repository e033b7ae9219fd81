//! Where a message was first said, so that a hard forget also finds the messages of an imported export.

use serde_json::{Map, Value};

use crate::{
    fields::{array, optional_text},
    place::Place,
};
use utterd_domain::{Result, fork::origin::Provenance, quoted};

/// The field of a message that holds where it was first said; absent if that is its id.
const ORIGIN: &str = "utterdOrigin";
/// The field of a message that holds the origins of the content that its own content replaced.
const EDITED_FROM: &str = "utterdEditedFrom";

/// Adds the origins to a message.
pub(super) fn write(message: &mut Value, id: &str, origins: &[Provenance]) {
    let Value::Object(fields) = message else { return };
    let text = |edited| move |from: &&Provenance| from.edited == edited;
    let own = origins.iter().find(text(false)).map(Provenance::text);
    if let Some(own) = own.filter(|own| own != id) {
        fields.insert(ORIGIN.into(), own.into());
    }
    let edited: Vec<String> = origins.iter().filter(text(true)).map(Provenance::text).collect();
    if !edited.is_empty() {
        fields.insert(EDITED_FROM.into(), edited.into());
    }
}

/// Takes the origins out of a message with this id.
pub(super) fn take(
    fields: &mut Map<String, Value>,
    id: Option<&str>,
    place: &Place<'_>,
) -> Result<Vec<Provenance>> {
    let own = optional_text(fields, ORIGIN, place)?.map(|text| read(text, false, &place.field(ORIGIN)));
    let own = own.transpose()?.or_else(|| Provenance::read(id?, false));
    fields.shift_remove(ORIGIN);
    let at = place.field(EDITED_FROM);
    let edited = fields
        .shift_remove(EDITED_FROM)
        .map_or_else(|| Ok(Vec::new()), |list| array(list, &at, "an array of ids"))?;
    let edited = edited.iter().enumerate().map(|(index, value)| match value {
        Value::String(text) => read(text, true, &at.index(index)),
        other => Err(at.index(index).refuse_kind(other, "text")),
    });
    own.into_iter().map(Ok).chain(edited).collect()
}

fn read(text: &str, edited: bool, place: &Place<'_>) -> Result<Provenance> {
    let refuse =
        || place.refuse(format!("is {}; accepted: the id that utterd gave an utterance", quoted(text)));
    Provenance::read(text, edited).ok_or_else(refuse)
}
