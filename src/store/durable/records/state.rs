//! Values that callers store with a conversation.

use crate::domain::{
    LineageId,
    state::{StateContent, StateEntry, StateValue},
};

use super::{
    Fault, StateName,
    field::{Field, Message, message},
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
};

message! {
    StateEntry {
        1 name: "a name of the state",
        2 version: "the version of a name",
        3 bytes: "the bytes of a value",
    }
}

impl RecordValue<(LineageId, StateName)> for StateValue {
    fn room(&self) -> usize {
        self.content.as_bytes().len() + 24
    }

    fn write(&self, _: &(LineageId, StateName), to: &mut Fields<'_>) {
        self.version.put(1, to);
        let number = match &self.content {
            StateContent::Bytes(_) => 2,
            StateContent::Json(_) => 3,
        };
        to.put(number, Stored::Bytes(self.content.as_bytes()));
    }

    fn read((_, name): &(LineageId, StateName), from: &Payload<'_>) -> Result<Self, Fault> {
        let content = match (from.one(2), from.one(3)) {
            (bytes, Stored::Nothing) => StateContent::Bytes(bytes.bytes("the value")?.into()),
            (_, json) => {
                let text = str::from_utf8(json.bytes("the value")?);
                let text =
                    text.map_err(|error| Fault::wrong("the value", format_args!("is not text: {error}")))?;
                StateContent::Json(text.into())
            }
        };
        Ok(Self { name: name.0.clone(), version: Field::get("the version", 1, from)?, content })
    }
}
