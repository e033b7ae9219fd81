//! The fields of a JSON object in their raw form.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The fields of a JSON object, each value as it is written. Of a field that occurs twice, the last one is read, as in
/// every JSON parser.
pub type RawObject<'j> = BTreeMap<String, &'j RawValue>;

/// Reads the fields of an object; `None` if `json` is not one.
pub fn raw_object(json: &str) -> Option<RawObject<'_>> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_as_they_are_written() {
        let object = raw_object(r#" {"a": 1.50, "b\u0041":[ ], "a":"x"} "#).unwrap();
        let fields: Vec<_> = object.iter().map(|(name, value)| (&**name, value.get())).collect();
        assert_eq!(fields, [("a", "\"x\""), ("bA", "[ ]")]);
        assert!(raw_object("[]").is_none());
    }
}
