//! The values of a JSON result, each with the object it belongs to: the price of a flight with the flight's number.

use std::rc::Rc;

use serde_json::Value;

use crate::domain::{
    extractive::text::{
        clip::folded,
        words::{IDENTIFIER, scan},
    },
    phrases::phrases,
};

/// A larger result, in bytes, is read as text.
const MOST_BYTES: usize = 30_000;
/// The most values of a result.
const MOST_VALUES: usize = 400;
/// How deep objects are read.
const MOST_DEEP: usize = 12;
/// The longest value, in bytes.
const VALUE_BYTES: usize = 200;
/// The longest name of an object, in bytes.
const NAME_BYTES: usize = 40;

/// A value with its field and the object it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domain::extractive) struct Held {
    /// An id, a number, or a name; `None` if the object has none.
    pub of: Option<Rc<str>>,
    pub field: Rc<str>,
    pub value: String,
}

/// The values of a JSON result; `None` if it is not JSON, or too large. `key` is the object that was asked for.
pub(in crate::domain::extractive) fn values(result: &str, key: Option<&str>) -> Option<Vec<Held>> {
    let result = result.trim();
    if !result.starts_with(['{', '[']) || result.len() > MOST_BYTES {
        return None;
    }
    let json: Value = serde_json::from_str(result).ok()?;
    let mut held = Vec::new();
    walk(&json, key.map(Rc::from).as_ref(), &"".into(), 0, &mut held);
    Some(held)
}

fn walk(value: &Value, of: Option<&Rc<str>>, field: &Rc<str>, depth: usize, held: &mut Vec<Held>) {
    if depth > MOST_DEEP || held.len() >= MOST_VALUES {
        return;
    }
    match value {
        Value::Object(members) => {
            let own: Option<Rc<str>> =
                named(members).map(Rc::from).or_else(|| names(field).then(|| field.clone()));
            let is_table =
                own.is_none() && !field.is_empty() && members.values().next().is_some_and(Value::is_number);
            for (key, value) in members {
                if is_dull(key, value) {
                    continue;
                }
                // the name itself belongs to what the object is in
                let is_name = value.as_str().is_some_and(|value| own.as_deref() == Some(value));
                let holder = own.as_ref().filter(|_| !is_name).or(of);
                let field = match is_table {
                    true => format!("{} {key}", field.trim_end_matches('s')).into(),
                    false => key.as_str().into(),
                };
                walk(value, holder, &field, depth + 1, held);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| walk(value, of, field, depth + 1, held)),
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => push(of, field, number.as_str(), held),
        Value::String(text) => push(of, field, text, held),
    }
}

fn push(of: Option<&Rc<str>>, field: &Rc<str>, value: &str, held: &mut Vec<Held>) {
    held.push(Held { of: of.cloned(), field: field.clone(), value: folded(value, VALUE_BYTES) });
}

/// The name of an object: its id or code, or else its title or a person's name.
fn named(members: &serde_json::Map<String, Value>) -> Option<String> {
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    if let (Some(first), Some(last)) = (text("first_name"), text("last_name")) {
        return Some(format!("{first} {last}"));
    }
    let texts =
        || members.iter().filter_map(|(key, value)| Some((key.to_ascii_lowercase(), value.as_str()?)));
    let short = |value: &&str| (3..=NAME_BYTES).contains(&value.len());
    let ends =
        |key: &str, ends: &[&str]| ends.iter().any(|end| key == *end || key.ends_with(&format!("_{end}")));
    let id = texts()
        .find(|(key, value)| ends(key, &["id", "number", "code", "key"]) && short(value) && names(value));
    let name = || texts().find(|(key, value)| ends(key, &["name", "title"]) && short(value));
    id.or_else(name).map(|(_, value)| value.to_owned())
}

/// Whether a text is an identifier.
fn names(text: &str) -> bool {
    let mut found = false;
    if text.len() <= NAME_BYTES && !text.contains(' ') && text.contains(|c: char| c.is_ascii_digit()) {
        scan(text, |word| found |= word.weight == IDENTIFIER);
    }
    found
}

/// Whether a value is hardly asked for again: places of lists, zip codes, times of changes.
fn is_dull(field: &str, value: &Value) -> bool {
    const FIELDS: [&str; 8] =
        ["zip", "seat", "created", "updated", "timestamp", "address1", "address2", "baggage"];
    const VALUES: [&str; 7] = ["available", "active", "success", "ok", "true", "false", "none"];
    let is_value = match value {
        Value::Object(members) if !members.values().next().is_some_and(Value::is_number) => return false,
        Value::String(text) => VALUES.iter().any(|dull| text.eq_ignore_ascii_case(dull)),
        _ => false,
    };
    let has = |dull: &&str| {
        field.as_bytes().windows(dull.len()).any(|part| part.eq_ignore_ascii_case(dull.as_bytes()))
    };
    is_value || FIELDS.iter().any(has)
}

/// Whether a field says something about its object that its value alone does not say.
pub(in crate::domain::extractive) fn is_attribute(field: &str) -> bool {
    const ENDS: [&str; 22] = phrases(
        "status|state|cabin|class|insurance|membership|tier|type|phone_number|address|rating|fare|rent|date|\
        time|amount|balance|price|total|cost|fee|city",
    );
    let field = field.trim_end_matches('s');
    ENDS.iter().any(|end| {
        let end = end.trim_end_matches('s');
        let Some((start, own)) = field.split_at_checked(field.len().wrapping_sub(end.len())) else {
            return false;
        };
        own.eq_ignore_ascii_case(end) && (start.is_empty() || start.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_the_object_that_has_it() {
        let json = r#"[{"flight_number": "HAT030", "prices": {"economy": 92}, "seats": {"economy": 3}}]"#;
        let held = values(json, Some("DEN")).unwrap();
        let told: Vec<String> =
            held.iter().map(|one| format!("{:?} {} {}", one.of.as_deref(), one.field, one.value)).collect();
        assert_eq!(told, ["Some(\"DEN\") flight_number HAT030", "Some(\"HAT030\") price economy 92",]);
        assert_eq!(values("ok", None), None);
    }

    #[test]
    fn a_person_is_an_object() {
        let held = values(r#"{"first_name": "Ann", "last_name": "Lee", "dob": "1970-01-02"}"#, None).unwrap();
        assert_eq!(held[2].of.as_deref(), Some("Ann Lee"));
    }
}
