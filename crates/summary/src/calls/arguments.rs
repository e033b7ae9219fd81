//! The arguments of a call, and those that say what it works on.

use serde_json::Value;
use utterd_text::one_line;

use crate::{
    calls::verbs::words,
    shapes::{Shape, shape},
};

/// The most arguments that are read.
const MOST: usize = 64;
/// The most objects of a call that a list names, and that single arguments do.
const OBJECTS: (usize, usize) = (8, 3);
/// The longest object, in bytes.
const OBJECT_BYTES: usize = 160;

/// A scalar among the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Empty for a text that is not JSON.
    pub(super) key: String,
    pub(crate) value: String,
    /// Whether it is text, not a number or a boolean.
    pub(crate) is_text: bool,
    /// Whether it is one of a list.
    pub(super) listed: bool,
    /// How many objects it is in.
    pub(super) depth: usize,
}

/// The scalars of a call's arguments, in order. What is not JSON is one text.
pub(super) fn read(arguments: &str, json: Option<&Value>) -> Vec<Argument> {
    let mut all = match json {
        Some(value) => scalars(value),
        None if arguments.trim().is_empty() => Vec::new(),
        None => scalars(&Value::String(arguments.to_owned())),
    };
    all.truncate(MOST);
    all
}

/// The scalars of a JSON value, in order.
pub(crate) fn scalars(value: &Value) -> Vec<Argument> {
    let mut all = Vec::new();
    walk("", value, false, 0, &mut all);
    all
}

fn walk(key: &str, value: &Value, listed: bool, depth: usize, all: &mut Vec<Argument>) {
    let (text, is_text) = match value {
        Value::Object(members) => {
            return members.iter().for_each(|(key, value)| walk(key, value, listed, depth + 1, all));
        }
        Value::Array(values) => return values.iter().for_each(|value| walk(key, value, true, depth, all)),
        Value::Null => return,
        Value::String(text) => (text.clone(), true),
        other => (other.to_string(), false),
    };
    all.push(Argument { key: key.to_owned(), value: text, is_text, listed, depth });
}

/// What the call works on: the file, the id, the name. An argument whose key shares a word with the tool's name
/// identifies (`cancel_reservation` by `reservation_id`), and else the value's shape decides.
pub(super) fn objects(tool: &str, arguments: &[Argument]) -> Vec<Box<str>> {
    let own = words(tool);
    let ranked: Vec<(u32, &Argument)> =
        arguments.iter().filter_map(|argument| Some((rank(argument, &own)?, argument))).collect();
    let best = ranked.iter().map(|(rank, _)| *rank).min();
    let of = |listed: bool| {
        let of_best = ranked.iter().filter(move |(rank, one)| Some(*rank) == best && one.listed == listed);
        of_best.map(|(_, one)| cut(one.value.trim(), OBJECT_BYTES).into())
    };
    let mut told: Vec<Box<str>> = of(false).take(OBJECTS.1).chain(of(true).take(OBJECTS.0)).collect();
    told.dedup();
    told
}

/// How well an argument says what is meant: lower is better, `None` if not at all.
fn rank(argument: &Argument, tool: &[String]) -> Option<u32> {
    let value = argument.value.trim();
    if value.is_empty() || value.contains('\n') || value.len() > 2 * OBJECT_BYTES {
        return None;
    }
    let key = words(&argument.key);
    let last = key.last().map_or("", String::as_str);
    // `room_id` and `room_name` say which room; `room_type` does not
    let own = |word: &String| tool.iter().any(|own| alike(word, own));
    let shares = key.iter().any(own)
        && key
            .iter()
            .all(|word| own(word) || is_id(word) || matches!(word.as_str(), "name" | "names" | "title"));
    Some(match (shape(value), shares) {
        (Shape::Path, _) if names_path(&key) => 0,
        (Shape::Id | Shape::Hash, true) => 1,
        (Shape::Word | Shape::Number, true) if is_id(last) => 1,
        (Shape::Path | Shape::Url, _) if value.contains('/') => 3,
        (Shape::Word | Shape::Phrase, true) if argument.is_text => 8,
        (Shape::Id | Shape::Hash | Shape::Email, _) if argument.is_text => 10,
        (Shape::Path, _) => 12,
        (Shape::Number, _) if is_id(last) && last.starts_with("id") => 12,
        (Shape::Phrase | Shape::Word, _) if value.len() <= OBJECT_BYTES / 2 => 30,
        (Shape::Date | Shape::Time | Shape::Stamp, _) => 40,
        (Shape::Amount | Shape::Number, _) => 50,
        (Shape::Bool, _) => 60,
        (Shape::Prose, _) if value.len() <= OBJECT_BYTES => 55,
        _ => return None,
    })
}

/// Words of keys that say which, not what.
fn is_id(word: &str) -> bool {
    matches!(word.trim_end_matches('s'), "id" | "number" | "no" | "code" | "key")
}

/// Singular and plural: `items` and `item_ids`.
fn alike(word: &str, own: &str) -> bool {
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    word.chars().count() > 2 && stem(word) == stem(own)
}

fn names_path(key: &[String]) -> bool {
    key.iter().any(|word| word.ends_with("path") || word.starts_with("file") || word.ends_with("file"))
}

/// A text on one line, of at most `most` bytes; what is cut ends in `…`, behind a word unless that is most of the text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let read = &text[..text.floor_char_boundary(4 * most)];
    let mut line = one_line(read);
    if line.len() > most || read.len() < text.len() {
        let end = line.floor_char_boundary(most.saturating_sub('…'.len_utf8()));
        let is_within = line[end..].starts_with(char::is_alphanumeric);
        let words = if is_within { line[..end].trim_end_matches(char::is_alphanumeric).len() } else { end };
        line.truncate(if words * 2 > end { words } else { end });
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}
