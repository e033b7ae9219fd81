//! The fields of a JSON object in their raw form.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a JSON object in order, each value as it is written.
pub struct RawObject<'j>(Vec<(String, &'j RawValue)>);

impl<'j> RawObject<'j> {
    /// Parses an object; `None` if `json` is not one.
    pub fn read(json: &'j str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The value of a field; the last one if the field occurs twice, as in every JSON parser.
    pub fn get(&self, name: &str) -> Option<&'j RawValue> {
        self.iter().rfind(|(its, _)| *its == name).map(|(_, value)| value)
    }

    /// The fields.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &'j RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = RawObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(field) = fields.next_entry()? {
            read.push(field);
        }
        Ok(RawObject(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_as_they_are_written() {
        let object = RawObject::read(r#" {"a": 1.50, "b\u0041":[ ], "a":"x"} "#).unwrap();
        let fields: Vec<_> = object.iter().map(|(name, value)| (name, value.get())).collect();
        assert_eq!(fields, [("a", "1.50"), ("bA", "[ ]"), ("a", "\"x\"")]);
        assert_eq!(object.get("a").map(RawValue::get), Some("\"x\""));
        assert!(object.get("c").is_none());
        assert!(RawObject::read("[]").is_none());
    }
}
