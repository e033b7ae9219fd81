//! Which member names an object.

use serde_json::{Map, Value};

use crate::{
    calls::words,
    shapes::{Shape, shape},
};

/// The longest name, in bytes.
const NAME_BYTES: usize = 48;
/// The longest scalar that is compared, in bytes.
const SCALAR_BYTES: usize = 200;
/// How many members can hold the name.
const MEMBERS: usize = 24;

/// From this score on, a part of an object is an object of its own.
pub(super) const STRONG: i32 = 5;

/// A name, the keys of the members that hold it, and how well they name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) keys: Vec<String>,
    pub(super) score: i32,
}

/// The name of an object, which stands at `above`: an id, or else a name; the more so the earlier it comes.
pub(super) fn identity(members: &Map<String, Value>, above: &str) -> Option<Named> {
    let scored = members.iter().take(MEMBERS).enumerate().filter_map(|(at, (key, value))| {
        Some((score(key, &scalar(value)?, at, above).filter(|score| *score > 0)?, key))
    });
    let (score, key) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    // a word beside other objects says something of them
    let scalars = members.values().filter(|value| scalar(value).is_some()).count();
    if scalars < 2 && score < STRONG {
        return None;
    }
    of_key(members, key).map(|named| Named { score, ..named })
}

/// The member that holds what was asked for.
pub(super) fn asked(members: &Map<String, Value>, asked: &str) -> Option<Named> {
    let (key, _) =
        members.iter().take(MEMBERS).find(|(_, value)| scalar(value).is_some_and(|text| text == asked))?;
    (!asked.is_empty()).then(|| Named { name: asked.to_owned(), keys: vec![key.clone()], score: STRONG })
}

/// The key by which the records of a list differ: of those whose values are all different, the one that names best. If
/// none names, the first that differs at all, so that rows are told apart.
pub(super) fn shared<'v>(objects: &[&'v Map<String, Value>]) -> Option<&'v str> {
    let [first, _, ..] = objects[..] else { return None };
    let differs = |key: &str| {
        let mut values: Vec<String> = objects
            .iter()
            .map_while(|members| members.get(key).and_then(scalar))
            .filter(|text| !text.is_empty())
            .collect();
        values.sort_unstable();
        values.dedup();
        values.len() == objects.len()
    };
    let keys = first.iter().take(MEMBERS).enumerate().filter(|(_, (key, _))| differs(key));
    let scored = keys.filter_map(|(at, (key, value))| {
        Some((score(key, &scalar(value)?, at, "").unwrap_or(-3), key.as_str()))
    });
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, key)| key)
}

/// The name that a member holds; a person's two names together.
pub(super) fn of_key(members: &Map<String, Value>, key: &str) -> Option<Named> {
    let name = scalar(members.get(key)?).filter(|name| !name.trim().is_empty())?;
    let next = members.iter().skip_while(|(own, _)| *own != key).nth(1);
    let second = next.filter(|(next, _)| is_name(key) && is_name(next) && !name.contains(' '));
    let second = second
        .and_then(|(key, value)| Some((key, value.as_str().filter(|text| shape(text) == Shape::Word)?)));
    let (name, keys) = match second {
        Some((next, second)) => (format!("{name} {second}"), vec![key.to_owned(), next.clone()]),
        None => (name, vec![key.to_owned()]),
    };
    (name.len() <= NAME_BYTES).then_some(Named { name, keys, score: STRONG })
}

fn is_name(key: &str) -> bool {
    words(key).last().is_some_and(|word| word.ends_with("name"))
}

/// Whether a key of a map is a name itself: `#W1`, `HAT136`.
pub(super) fn names(key: &str) -> bool {
    key.len() <= NAME_BYTES && shape(key) == Shape::Id && key.chars().filter(char::is_ascii_digit).count() > 1
        || key.contains('@') && shape(key) == Shape::Email
}

/// How well a member names its object.
fn score(key: &str, value: &str, at: usize, above: &str) -> Option<i32> {
    let key_words = words(key);
    let is_id = key_words.last().is_some_and(|word| word == "id");
    let long = value.chars().count() > 4;
    let by_shape = match shape(value) {
        _ if value.len() > NAME_BYTES => return None,
        // a telephone number names nobody
        Shape::Id if !value.contains(|c: char| c.is_alphabetic() || c == '#') => 1,
        Shape::Id if long => 5,
        Shape::Id => 3,
        Shape::Word if value.chars().all(char::is_lowercase) && value.is_ascii() => 0,
        Shape::Word | Shape::Phrase | Shape::Path => 2,
        Shape::Email | Shape::Hash => 1,
        Shape::Number => -4,
        _ => return None,
    };
    let by_place = match at {
        0 => 2,
        1 => 1,
        _ => 0,
    };
    let of_above = !above.is_empty()
        && key_words.iter().any(|word| words(above).iter().any(|own| own.trim_end_matches('s') == word));
    let by_key = if is_id { 4 } else { 2 * i32::from(is_name(key)) };
    Some(by_shape + by_place + by_key + if of_above { 2 } else { 0 })
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
