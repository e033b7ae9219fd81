//! Names and values, and who named them.

use std::{borrow::Cow, sync::Arc};

use rustc_hash::FxHashMap;
use serde_json::Value;
use utterd_text::{Kind as Shape, entities};

use crate::{
    calls::{Json, scalars},
    item::{Item, Kind, Seen},
    message::{Call, Message, Role},
    numbers::{log2, logistic},
};

/// Of a long text, this much is read at either end.
const END_BYTES: usize = 2_400;
/// Longer names are texts.
const MOST_BYTES: usize = 120;
/// Names of one result.
const MOST_OF_RESULT: usize = 120;
/// Names of a source.
const MOST: usize = 600;
/// Without its noun, a shorter number tells nobody anything; a longer one is an id.
const NUMBER_BYTES: usize = 4;
/// Beyond this count, another mention says nothing more.
const MOST_COUNTED: u32 = 30;

/// The names of a source.
#[derive(Default)]
pub struct Names {
    all: FxHashMap<Arc<str>, Name>,
}

struct Name {
    seen: Seen,
    /// The place among all names, so that their order never depends on a hash.
    place: usize,
    /// The result that named it last.
    also: Option<u64>,
}

impl Names {
    /// Reads what a message names.
    pub fn read_text<'a>(&mut self, message: &Message<'_>, named: impl Iterator<Item = (Shape, &'a str)>) {
        for (name, shape) in distinct(named, usize::MAX) {
            let seen = self.see(name, shape, message.sequence, None);
            let count = if message.role == Role::User { &mut seen.users } else { &mut seen.assistants };
            *count += 1;
        }
    }

    /// Reads the arguments of a call, and its result.
    pub fn read_call(&mut self, sequence: u64, call: &Call<'_>, json: &Json) {
        let arguments = values(call.arguments, json.arguments.as_ref());
        for (name, shape) in distinct(named(&arguments), MOST_OF_RESULT) {
            if matches!(shape, Shape::Name | Shape::Number) && !self.all.contains_key(name) {
                continue;
            }
            let seen = self.see(name, shape, sequence, None);
            (seen.calls, seen.used) = (seen.calls + 1, Some(sequence));
        }
        let Some(answer) = &call.result else { return };
        for (name, shape) in distinct(named(&values(answer.text, json.result.as_ref())), MOST_OF_RESULT) {
            // a value of plain output belongs to nothing
            let is_value =
                matches!(shape, Shape::Number | Shape::Money | Shape::Date | Shape::Time | Shape::Name);
            if !is_value {
                self.see(name, shape, sequence, Some(answer.sequence)).results += 1;
            }
        }
    }

    fn see(&mut self, name: &str, shape: Shape, sequence: u64, also: Option<u64>) -> &mut Seen {
        let place = self.all.len();
        let new = || Name {
            seen: Seen { shape, users: 0, assistants: 0, calls: 0, results: 0, last: sequence, used: None },
            place,
            also,
        };
        let name = self.all.entry(name.into()).or_insert_with(new);
        (name.seen.last, name.also) = (sequence, also);
        &mut name.seen
    }

    /// An item for each name.
    pub fn items(self) -> Vec<Item> {
        let mut all: Vec<(Arc<str>, Name)> = self.all.into_iter().collect();
        all.retain(|(text, name)| name.seen.shape != Shape::Number || text.len() > NUMBER_BYTES);
        all.sort_unstable_by_key(|(_, name)| name.place);
        if all.len() > MOST {
            all.drain(..all.len() - MOST);
        }
        let item = |(text, name): (Arc<str>, Name)| {
            let mut item = Item::new(Kind::Fact, Arc::default(), text, name.seen.last);
            (item.also, item.seen) = (name.also, Some(name.seen));
            item
        };
        all.into_iter().map(item).collect()
    }
}

/// The values of JSON, a line each: its keys name nothing. Any other text as it is.
fn values<'a>(text: &'a str, json: Option<&Value>) -> Cow<'a, str> {
    let Some(value) = json.filter(|value| value.is_object() || value.is_array()) else {
        return Cow::Borrowed(text);
    };
    Cow::Owned(scalars(value).iter().flat_map(|scalar| [scalar.value.as_str(), "\n"]).collect())
}

/// What the two ends of a text name.
fn named(text: &str) -> impl Iterator<Item = (Shape, &str)> {
    let (head, tail) = ends(text);
    [head, tail].into_iter().flat_map(entities).map(|entity| (entity.kind, entity.text))
}

/// Names, each once.
fn distinct<'a>(named: impl Iterator<Item = (Shape, &'a str)>, most: usize) -> Vec<(&'a str, Shape)> {
    let mut found: Vec<(&str, Shape)> = Vec::new();
    let mut known = rustc_hash::FxHashSet::default();
    for (shape, text) in named {
        let begins = |c: char| c.is_alphanumeric() || "/~@$€£¥".contains(c);
        let starts = text.starts_with(begins) || text.starts_with("./") || text.starts_with("../");
        if !starts || text.len() > MOST_BYTES || text.chars().count() < 2 {
            continue;
        }
        if found.len() < most && known.insert(text) {
            found.push((text, shape));
        }
    }
    found
}

fn ends(text: &str) -> (&str, &str) {
    if text.len() <= 2 * END_BYTES {
        return (text, "");
    }
    let head = &text[..text.floor_char_boundary(END_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len() - END_BYTES)..];
    // a name that is cut is no name
    let head = head.rfind(char::is_whitespace).map_or("", |end| &head[..end]);
    (head, tail.find(char::is_whitespace).map_or("", |start| &tail[start..]))
}

impl Seen {
    /// How likely a name is needed again at the utterance `now`: a logistic regression on what later calls of agents
    /// named.
    pub fn probability(&self, now: u64) -> f64 {
        let count = |count: u32| log2(1.0 + f64::from(count.min(MOST_COUNTED)));
        let age = |last: u64| log2(1.0 + now.saturating_sub(last) as f64);
        let only_in_results = self.users + self.assistants + self.calls == 0;
        let odds = 0.12 * count(self.users)
            + 0.43 * count(self.assistants)
            + 0.15 * count(self.calls)
            + 0.04 * count(self.results)
            - 0.52 * age(self.last)
            - 0.11 * self.used.map_or(NEVER_USED, age)
            - if only_in_results { 0.54 } else { 0.0 }
            + of_shape(self.shape);
        logistic(odds)
    }

    /// The same name, seen in `other` as well.
    pub fn merge(&mut self, other: &Self) {
        self.users = self.users.saturating_add(other.users);
        self.assistants = self.assistants.saturating_add(other.assistants);
        self.calls = self.calls.saturating_add(other.calls);
        self.results = self.results.saturating_add(other.results);
        self.last = self.last.max(other.last);
        self.used = self.used.max(other.used);
    }
}

/// The age of the last use, as a logarithm, of a name that no call used.
const NEVER_USED: f64 = 8.0;

fn of_shape(shape: Shape) -> f64 {
    match shape {
        Shape::Path => 0.30,
        Shape::File => 1.05,
        Shape::Identifier => 0.61,
        Shape::Code => 0.04,
        Shape::Number => -1.11,
        Shape::Date | Shape::Time => -0.7,
        Shape::Money => -0.8,
        Shape::Email => -1.0,
        Shape::Url => -0.3,
        Shape::Name => -1.2,
    }
}
