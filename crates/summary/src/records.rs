//! The values of records in a text: each with the object that it belongs to, and with what it is of that object.
//!
//! Records are read from JSON, tables, `key: value` lines and flat tags. Which member names an object and what is worth
//! telling is decided by the values' shapes and by what the records of a list repeat, never by their keys.

mod identity;
mod rows;
#[cfg(test)]
mod tests;
mod worth;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::{Deserializer, Map, Value};

use crate::{
    calls::{cut, words},
    records::{
        identity::{Named, STRONG, identity, names, scalar},
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
    /// How much it is worth to tell, judged by its shape and by how often it is repeated: 0 is not worth telling, and 100
    /// is the most.
    pub worth: u32,
}

/// The facts in a text, in order.
pub fn facts(text: &str) -> Vec<Fact> {
    facts_of(&records(text.trim()), None)
}

/// The facts of a result, which may be `json`; a record that has no id belongs to `asked`, the argument by which it was
/// fetched.
pub(crate) fn facts_of_result(text: &str, json: Option<&Value>, asked: Option<&str>) -> Vec<Fact> {
    match json {
        Some(value) => facts_of(std::slice::from_ref(value), asked),
        None => facts_of(&records(text.trim()), asked),
    }
}

fn facts_of(records: &[Value], asked: Option<&str>) -> Vec<Fact> {
    let mut walk = Walk { leaves: Vec::new() };
    let holder = Holder { of: asked.unwrap_or_default().into(), asked: true };
    match records {
        [only] => walk.value(only, &holder, &Place::default(), 0),
        _ => walk.list(records, &holder, &Place::default(), 0),
    }
    told(walk.leaves)
}

/// The records of a text: JSON values one after another, or else what its lines hold.
fn records(text: &str) -> Vec<Value> {
    let bare = fenced(text).unwrap_or(text);
    if !bare.starts_with(['{', '[']) {
        return rows::rows(text);
    }
    if bare.len() > JSON_BYTES {
        return Vec::new();
    }
    let values: Result<Vec<Value>, _> = Deserializer::from_str(bare).into_iter().collect();
    values.unwrap_or_default()
}

/// What is within a fence that encloses the whole text.
fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.strip_prefix("```")?.split_once('\n')?;
    rest.strip_suffix("```").map(str::trim)
}

/// The object that values belong to.
#[derive(Clone, Default)]
struct Holder {
    of: Box<str>,
    /// The call named it, or nothing did.
    asked: bool,
}

/// Where a value stands.
#[derive(Clone, Default)]
struct Place {
    key: String,
    /// The key of the object that the value is in.
    above: String,
    /// The list that the value is one of.
    list: Option<List>,
    /// How many records the list has that the value's record is in, and how many of them have this value.
    repeated: (usize, usize),
}

impl Place {
    fn below(&self, key: &str) -> Self {
        let above = if self.key.is_empty() { &self.above } else { &self.key };
        Self { key: key.to_owned(), above: above.clone(), list: None, repeated: self.repeated }
    }
}

/// The records of a list.
#[derive(Clone)]
struct List {
    records: usize,
    counts: Rc<FxHashMap<(String, String), usize>>,
}

impl List {
    fn times(&self, key: &str, value: &Value) -> usize {
        scalar(value).and_then(|text| self.counts.get(&(key.to_owned(), text)).copied()).unwrap_or_default()
    }
}

struct Leaf {
    of: Box<str>,
    key: String,
    above: String,
    value: String,
    worth: u32,
}

struct Walk {
    leaves: Vec<Leaf>,
}

impl Walk {
    fn value(&mut self, value: &Value, holder: &Holder, place: &Place, depth: usize) {
        if depth > MOST_DEEP || self.leaves.len() >= MOST_FACTS {
            return;
        }
        match value {
            Value::Object(members) => {
                self.record(members, named(members, holder, place), holder, place, depth)
            }
            Value::Array(values) => self.list(values, holder, place, depth),
            Value::Null => {}
            Value::String(text) => self.leaf(text, holder, place),
            scalar => self.leaf(&scalar.to_string(), holder, place),
        }
    }

    /// The records of a list are told apart by one member, the same for all.
    fn list(&mut self, values: &[Value], holder: &Holder, place: &Place, depth: usize) {
        let values: Vec<&Value> = values.iter().map(unwrapped).collect();
        let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|value| value.as_object()).collect();
        let shared = identity::shared(&objects);
        let counts = Rc::new(counts(&objects));
        for value in &values {
            let list = List { records: values.len(), counts: counts.clone() };
            let place = Place { list: Some(list), ..place.clone() };
            match value {
                Value::Object(members) if objects.len() > 1 => {
                    let own = shared.and_then(|key| identity::of_key(members, key));
                    let own = own.or_else(|| identity(members, &place.key));
                    self.record(members, own, holder, &place, depth + 1);
                }
                _ => self.value(value, holder, &place, depth + 1),
            }
        }
    }

    fn record(
        &mut self,
        members: &Map<String, Value>,
        own: Option<Named>,
        holder: &Holder,
        place: &Place,
        depth: usize,
    ) {
        let is_keyed = names(&place.key);
        // a key of a map can be the name: {"#W1": {…}}
        let own = if is_keyed { Some(keyed(members, &place.key)) } else { own };
        let inner = own.as_ref().map(|own| Holder { of: cut(&own.name, BYTES.1).into(), asked: false });
        if let Some(own) = &own {
            self.name(own, holder, place, is_keyed);
        }
        let list = place.list.as_ref();
        for (key, value) in
            members.iter().filter(|(key, _)| own.as_ref().is_none_or(|own| !own.keys.contains(key)))
        {
            let mut below = place.below(key);
            below.repeated = list.map_or(place.repeated, |list| (list.records, list.times(key, value)));
            self.value(value, inner.as_ref().unwrap_or(holder), &below, depth + 1);
        }
    }

    /// An object's name belongs to what the object is in.
    fn name(&mut self, own: &Named, holder: &Holder, place: &Place, is_keyed: bool) {
        let key = match &own.keys[..] {
            _ if is_keyed => &place.above,
            [only, ..] if place.key.is_empty() => only,
            _ => &place.key,
        };
        if !holder.of.is_empty() && *holder.of != *own.name {
            self.leaf(&own.name, holder, &Place { key: key.clone(), ..place.clone() });
        }
    }

    fn leaf(&mut self, text: &str, holder: &Holder, place: &Place) {
        let value = cut(text, BYTES.0);
        let worth = worth(text, &place.key, place.repeated);
        if shape(&value) == Shape::Empty
            || self.leaves.len() >= MOST_FACTS
            || *holder.of == *value && holder.asked
        {
            return;
        }
        let (key, above) = (place.key.clone(), place.above.clone());
        self.leaves.push(Leaf { of: holder.of.clone(), key, above, value, worth });
    }
}

/// What is in an object that only wraps another: `{"node": {…}}`.
fn unwrapped(value: &Value) -> &Value {
    match value {
        Value::Object(members) if members.len() == 1 => {
            members.values().find(|inner| inner.is_object()).unwrap_or(value)
        }
        _ => value,
    }
}

/// What names an object: what was asked for, or else its own; a part without a clear name is no object of its own, nor
/// is the whole where something was asked for.
fn named(members: &Map<String, Value>, holder: &Holder, place: &Place) -> Option<Named> {
    let own = identity(members, &place.key);
    let is_part = !holder.of.is_empty() && place.list.is_none();
    identity::asked(members, &holder.of).or(own.filter(|own| !is_part || own.score >= STRONG))
}

/// The name of an object that a map holds under it, and the members that repeat it.
fn keyed(members: &Map<String, Value>, key: &str) -> Named {
    let repeats = members.iter().filter(|(_, value)| value.as_str() == Some(key));
    Named { name: key.to_owned(), keys: repeats.map(|(own, _)| own.clone()).collect(), score: STRONG }
}

/// How often each member's value is in the records of a list.
fn counts(objects: &[&Map<String, Value>]) -> FxHashMap<(String, String), usize> {
    let mut counts = FxHashMap::default();
    let members = objects.iter().flat_map(|members| members.iter());
    for (key, text) in members.filter_map(|(key, value)| Some((key.clone(), scalar(value)?))) {
        *counts.entry((key, text)).or_default() += 1;
    }
    counts
}

/// The facts with their labels: one key, or two where an object has the key in several places.
fn told(leaves: Vec<Leaf>) -> Vec<Fact> {
    let mut places: FxHashMap<(&str, &str), Vec<&str>> = FxHashMap::default();
    for leaf in &leaves {
        let places = places.entry((&leaf.of, &leaf.key)).or_default();
        if !places.contains(&leaf.above.as_str()) && places.len() < 2 {
            places.push(&leaf.above);
        }
    }
    let is_ambiguous =
        |leaf: &Leaf| places.get(&(&*leaf.of, leaf.key.as_str())).is_some_and(|places| places.len() > 1);
    let label = |leaf: &Leaf| {
        let above = if is_ambiguous(leaf) || leaf.key.is_empty() { said(&leaf.above) } else { Vec::new() };
        let parts: Vec<String> = above.into_iter().chain(said(&leaf.key)).collect();
        cut(&parts.join(" "), BYTES.1)
    };
    let fact = |leaf: &Leaf| Fact {
        of: leaf.of.clone(),
        label: label(leaf).into(),
        value: leaf.value.as_str().into(),
        worth: leaf.worth,
    };
    leaves.iter().map(fact).collect()
}

/// The words of a key; a date is one.
fn said(key: &str) -> Vec<String> {
    if key.is_empty() || key.contains(char::is_alphabetic) { words(key) } else { vec![key.to_owned()] }
}
