//! The values of records in JSON: each with the object that it belongs to, and with what it is of that object.
//!
//! Which member names an object and what is worth telling is decided by the values' shapes, never by their keys.

mod identity;
#[cfg(test)]
mod tests;
mod worth;

use rustc_hash::FxHashMap;
use serde_json::{Deserializer, Map, Value};

use crate::{
    calls::{cut, words},
    records::{
        identity::{identity, name_of, names, scalar, shared},
        worth::worth,
    },
    shapes::{Shape, shape},
};

/// A larger text is not read as JSON, in bytes.
const JSON_BYTES: usize = 256 << 10;
/// The most facts of a text.
const MOST_FACTS: usize = 400;
/// How deep objects are read.
const MOST_DEEP: usize = 12;
/// The longest value and the longest label, in bytes.
const BYTES: (usize, usize) = (200, 64);

/// A value of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The nearest object that has an id or a name; empty if there is none.
    pub of: Box<str>,
    /// The words of the key, with those of the key above where it alone is ambiguous.
    pub label: Box<str>,
    /// The value on one line.
    pub value: Box<str>,
    /// How much it is worth to tell, judged by its shape: 0 is not worth telling, and 100 is the most.
    pub worth: u32,
}

/// The facts of a result, which may be `json`, or several JSON values one after another; a record that has no id belongs
/// to `asked`, the argument by which it was fetched. What the `arguments` say is worth less: it is known.
pub(crate) fn facts_of_result(
    text: &str,
    json: Option<&Value>,
    asked: Option<&str>,
    arguments: &str,
) -> Vec<Fact> {
    let text = text.trim();
    let several = || -> Option<Vec<Value>> {
        let is_json = text.len() <= JSON_BYTES && text.starts_with(['{', '[']);
        is_json.then(|| Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()).flatten()
    };
    let holder = Holder { of: asked.unwrap_or_default(), asked: true };
    let mut walk = Walk { arguments, leaves: Vec::new() };
    match json {
        Some(value) => walk.value(value, holder, Place::default(), 0),
        None => walk.list(&several().unwrap_or_default(), holder, Place::default(), 0),
    }
    walk.told()
}

/// The object that values belong to.
#[derive(Clone, Copy)]
struct Holder<'a> {
    of: &'a str,
    /// The call named it, or nothing did.
    asked: bool,
}

/// Where a value stands.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    key: &'a str,
    /// The key of the object that it is in.
    above: &'a str,
    /// The records of the list that its object is one of, if they are several.
    list: Option<&'a [&'a Map<String, Value>]>,
}

impl Place<'_> {
    /// What all records repeat, or most, is worth less.
    fn rarity(&self, value: &Value) -> u32 {
        let Some(list) = self.list.filter(|list| list.len() > 2) else { return 4 };
        match list.iter().filter(|record| record.get(self.key) == Some(value)).count() {
            same if same == list.len() => 1,
            same if same * 2 > list.len() => 2,
            _ => 4,
        }
    }
}

struct Leaf {
    of: Box<str>,
    key: Box<str>,
    above: Box<str>,
    value: String,
    worth: u32,
}

struct Walk<'a> {
    arguments: &'a str,
    leaves: Vec<Leaf>,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, holder: Holder<'_>, place: Place<'_>, depth: usize) {
        if depth > MOST_DEEP || self.leaves.len() >= MOST_FACTS {
            return;
        }
        match value {
            Value::Object(members) => {
                let asked = members.iter().find(|(_, value)| scalar(value).is_some_and(|it| it == holder.of));
                let asked = asked.filter(|_| !holder.of.is_empty()).map(|(key, _)| key.as_str());
                self.record(members, asked.or_else(|| identity(members)), holder, place, depth);
            }
            Value::Array(values) => self.list(values, holder, place, depth),
            Value::Null => {}
            Value::String(text) => self.leaf(text, value, holder, place),
            scalar => self.leaf(&scalar.to_string(), scalar, holder, place),
        }
    }

    /// The records of a list are told apart by one member, the same for all.
    fn list(&mut self, values: &[Value], holder: Holder<'_>, place: Place<'_>, depth: usize) {
        let objects: Vec<&Map<String, Value>> = values.iter().filter_map(Value::as_object).collect();
        let shared = shared(&objects);
        for value in values {
            match value {
                Value::Object(members) if objects.len() > 1 => {
                    let own = shared.filter(|key| name_of(members, key).is_some());
                    let own = own.or_else(|| identity(members));
                    self.record(members, own, holder, Place { list: Some(&objects), ..place }, depth + 1);
                }
                _ => self.value(value, holder, place, depth + 1),
            }
        }
    }

    /// A record that its member `own` names; a key of a map can be the name, too: `{"#W1": {…}}`.
    fn record(
        &mut self,
        members: &Map<String, Value>,
        own: Option<&str>,
        holder: Holder<'_>,
        place: Place<'_>,
        depth: usize,
    ) {
        let is_keyed = names(place.key);
        let own = own.filter(|_| members.len() > 1);
        let name =
            if is_keyed { Some(place.key.to_owned()) } else { own.and_then(|own| name_of(members, own)) };
        let name = name.map(|name| cut(&name, BYTES.1));
        let inner = name.as_deref().map_or(holder, |of| Holder { of, asked: false });
        for (key, value) in members {
            let names_it = match is_keyed {
                true => value.as_str() == Some(place.key),
                false => name.is_some() && own == Some(key),
            };
            if !names_it {
                let above = if place.key.is_empty() { place.above } else { place.key };
                self.value(value, inner, Place { key, above, list: place.list }, depth + 1);
            }
        }
    }

    fn leaf(&mut self, text: &str, of: &Value, holder: Holder<'_>, place: Place<'_>) {
        let is_given = text.len() > 2 && self.arguments.contains(text);
        let rarity = if is_given { 1 } else { place.rarity(of) };
        let worth = worth(text, place.key) * rarity / 4;
        let value = cut(text, BYTES.0);
        let is_asked = holder.asked && *holder.of == *value;
        if is_asked || shape(&value) == Shape::Empty || self.leaves.len() >= MOST_FACTS {
            return;
        }
        let (of, key, above) = (holder.of.into(), place.key.into(), place.above.into());
        self.leaves.push(Leaf { of, key, above, value, worth });
    }

    /// The facts with their labels: one key, or two where an object has the key in several places.
    fn told(self) -> Vec<Fact> {
        let mut places: FxHashMap<(&str, &str), (&str, bool)> = FxHashMap::default();
        for leaf in &self.leaves {
            let (above, is_ambiguous) = places.entry((&leaf.of, &leaf.key)).or_insert((&leaf.above, false));
            *is_ambiguous |= **above != *leaf.above;
        }
        let label = |leaf: &Leaf| {
            let is_ambiguous = places.get(&(&*leaf.of, &*leaf.key)).is_some_and(|(_, several)| *several);
            let above = if is_ambiguous || leaf.key.is_empty() { said(&leaf.above) } else { Vec::new() };
            cut(&[above, said(&leaf.key)].concat().join(" "), BYTES.1)
        };
        let labels: Vec<String> = self.leaves.iter().map(label).collect();
        let fact = |(leaf, label): (Leaf, String)| Fact {
            of: leaf.of,
            label: label.into(),
            value: leaf.value.into(),
            worth: leaf.worth,
        };
        self.leaves.into_iter().zip(labels).map(fact).collect()
    }
}

/// The words of a key; a date is one.
fn said(key: &str) -> Vec<String> {
    if key.is_empty() || key.contains(char::is_alphabetic) { words(key) } else { vec![key.to_owned()] }
}
