//! Which member names an object.

use serde_json::{Map, Value};

use crate::shapes::{Shape, shape};

/// The longest name, in bytes.
const NAME_BYTES: usize = 48;
/// The longest scalar that is compared, in bytes.
const SCALAR_BYTES: usize = 200;
/// How many members can hold the name.
const MEMBERS: usize = 24;

/// From this score on, a value names an object that has no other.
const STRONG: i32 = 5;

/// The key of the member that names an object: an id, or else a name; the more so the earlier it comes.
pub(super) fn identity(members: &Map<String, Value>) -> Option<&str> {
    // a word beside other objects says something of them
    let scalars = members.values().filter(|value| scalar(value).is_some()).count();
    let least = if scalars < 2 { STRONG } else { 1 };
    best(members, |_, value, at| score(value, at).filter(|score| *score >= least))
}

/// The key by which the records of a list differ: of those whose values are all different, the one that names best. If
/// none names, the first that differs at all, so that rows are told apart.
pub(super) fn shared<'v>(objects: &[&'v Map<String, Value>]) -> Option<&'v str> {
    let [first, _, ..] = objects[..] else { return None };
    let differs = |key: &str| {
        let values = objects.iter().map_while(|members| members.get(key).and_then(scalar));
        let mut values: Vec<String> = values.filter(|text| !text.is_empty()).collect();
        values.sort_unstable();
        values.dedup();
        values.len() == objects.len()
    };
    best(first, |key, value, at| differs(key).then(|| score(value, at).unwrap_or(-3)))
}

/// The first of the keys with the highest score.
fn best(members: &Map<String, Value>, score: impl Fn(&str, &str, usize) -> Option<i32>) -> Option<&str> {
    let members = members.iter().take(MEMBERS).enumerate();
    let scored = members.filter_map(|(at, (key, value))| Some((score(key, &scalar(value)?, at)?, key)));
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, key)| key.as_str())
}

/// The name that a member holds.
pub(super) fn name_of(members: &Map<String, Value>, key: &str) -> Option<String> {
    scalar(members.get(key)?).filter(|name| !name.trim().is_empty() && name.len() <= NAME_BYTES)
}

/// Whether a key of a map is a name itself: `#W1`, `HAT136`.
pub(super) fn names(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    key.len() <= NAME_BYTES && digits > 1 && shape(key) == Shape::Id
}

/// How well a member names its object.
fn score(value: &str, at: usize) -> Option<i32> {
    let by_shape = match shape(value) {
        _ if value.len() > NAME_BYTES => return None,
        // a telephone number names nobody
        Shape::Id if !value.contains(|c: char| c.is_alphabetic() || c == '#') => 1,
        Shape::Id if value.chars().count() > 4 => 5,
        Shape::Id => 3,
        Shape::Word if value.chars().all(char::is_lowercase) && value.is_ascii() => 0,
        Shape::Word | Shape::Phrase | Shape::Path => 2,
        Shape::Email | Shape::Hash => 1,
        Shape::Number => -4,
        _ => return None,
    };
    Some(by_shape + 2_i32.saturating_sub(at as i32).max(0))
}

/// The text of a short scalar.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.len() <= SCALAR_BYTES => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
