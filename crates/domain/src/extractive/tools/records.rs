//! The values of a JSON result, each with the object it belongs to: the price of a flight with the flight's number.

use std::{borrow::Cow, rc::Rc};

use crate::{
    extractive::{
        effects::Node,
        text::{
            clip::folded,
            words::{IDENTIFIER, scan},
        },
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
/// The most fields of a row.
const ROW_FIELDS: usize = 4;
/// The longest name of an object, in bytes.
const NAME_BYTES: usize = 40;

/// A value with its field and the object it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extractive) struct Held<'a> {
    /// An id, a number, or a name; `None` if the object has none.
    pub of: Option<Rc<str>>,
    /// The object that this object is a part of: a flight's reservation.
    pub within: Option<Rc<str>>,
    /// Empty for a row: several fields of an object without a name of its own.
    pub field: Cow<'a, str>,
    pub value: Cow<'a, str>,
}

/// Calls `each` for every value of a JSON result, in order; returns false if it is not JSON, or too large. `key` is the
/// object that was asked for.
pub(in crate::extractive) fn values(result: &str, key: Option<&str>, each: impl FnMut(Held<'_>)) -> bool {
    let result = result.trim();
    if !result.starts_with(['{', '[']) || result.len() > MOST_BYTES {
        return false;
    }
    let json = Node::of(result);
    let mut walk = Walk { each, left: MOST_VALUES };
    if let Some(json) = &json {
        let asked = Holder { of: key.map(Rc::from), is_asked: true, ..Holder::default() };
        walk.value(json, &asked, "", 0);
    }
    json.is_some()
}

/// The object that values belong to.
#[derive(Default)]
struct Holder {
    of: Option<Rc<str>>,
    within: Option<Rc<str>>,
    /// The call named it, not the result.
    is_asked: bool,
}

impl Holder {
    /// The holder of the values of an object named `own` in this one.
    fn of_part(&self, own: Rc<str>) -> Self {
        let is_whole = !self.is_asked && self.within.is_none();
        let within = self.of.as_ref().filter(|of| is_whole && **of != own).cloned();
        Self { of: Some(own), within, is_asked: false }
    }
}

struct Walk<F> {
    each: F,
    /// How many more values are read.
    left: usize,
}

impl<F: FnMut(Held<'_>)> Walk<F> {
    fn value(&mut self, value: &Node<'_>, holder: &Holder, field: &str, depth: usize) {
        if depth > MOST_DEEP || self.left == 0 {
            return;
        }
        match value {
            Node::Object(members) => self.object(members, holder, field, depth),
            Node::Array(values) => match rows(values) {
                Some(rows) => rows.iter().for_each(|row| self.leaf(holder, "", row)),
                None => values.iter().for_each(|value| self.value(value, holder, field, depth + 1)),
            },
            Node::Other => {}
            Node::Number(number) => self.leaf(holder, field, number),
            Node::Text(text) => self.leaf(holder, field, text),
        }
    }

    fn object(&mut self, members: &[(&str, Node<'_>)], holder: &Holder, field: &str, depth: usize) {
        let own: Option<Rc<str>> =
            named(members).map(Rc::from).or_else(|| names(field).then(|| field.into()));
        let is_table = own.is_none() && !field.is_empty() && starts_with_number(members);
        let part = own.map(|own| holder.of_part(own));
        for (key, value) in members.iter().filter(|(key, value)| !is_dull(key, value)) {
            // the name itself belongs to what the object is in
            let is_name = |part: &&Holder| value.text() == part.of.as_deref();
            let holder = part.as_ref().filter(|part| !is_name(part)).unwrap_or(holder);
            match is_table {
                true => {
                    let field = format!("{} {key}", field.trim_end_matches('s'));
                    self.value(value, holder, &field, depth + 1);
                }
                false => self.value(value, holder, key, depth + 1),
            }
        }
    }

    fn leaf(&mut self, holder: &Holder, field: &str, value: &str) {
        self.left = self.left.saturating_sub(1);
        let is_plain = value.len() <= VALUE_BYTES && value.bytes().all(|byte| byte.is_ascii_graphic());
        let value = if is_plain { value.into() } else { folded(value, VALUE_BYTES).into() };
        let (of, within) = (holder.of.clone(), holder.within.clone());
        (self.each)(Held { of, within, field: field.into(), value });
    }
}

/// The rows of a table of which no row has a name that tells it from the others: of each, the fields that differ.
fn rows(values: &[Node<'_>]) -> Option<Vec<String>> {
    let objects: Vec<&[(&str, Node<'_>)]> = values.iter().map_while(Node::members).collect();
    let [first, _, ..] = objects[..] else { return None };
    let mut known: Vec<Cow<'_, str>> = objects.iter().filter_map(|members| named(members)).collect();
    known.sort_unstable();
    known.dedup();
    if objects.len() < values.len() || known.len() == objects.len() {
        return None;
    }
    let tells = |key: &str, node: &Node<'_>| {
        let is_numeric = node.scalar().is_some_and(|text| text.contains(|c: char| c.is_ascii_digit()));
        !is_dull(key, node) && (is_numeric || is_attribute(key))
    };
    let differs = |key: &str| objects.iter().any(|row| scalar(row, key) != scalar(first, key));
    let fields: Vec<&str> = { first.iter() }
        .filter(|(key, node)| tells(key, node) && differs(key))
        .map(|(key, _)| *key)
        .take(ROW_FIELDS)
        .collect();
    let row = |members: &&[(&str, Node<'_>)]| {
        let told = |key: &&str| Some(format!("{} {}", key.replace('_', " "), scalar(members, key)?));
        fields.iter().filter_map(told).collect::<Vec<_>>().join(", ")
    };
    (!fields.is_empty()).then(|| objects.iter().map(row).collect())
}

/// The text or number of a field.
fn scalar<'n>(members: &'n [(&str, Node<'_>)], key: &str) -> Option<&'n str> {
    members.iter().find(|(own, _)| *own == key)?.1.scalar()
}

fn starts_with_number(members: &[(&str, Node<'_>)]) -> bool {
    matches!(members.first(), Some((_, Node::Number(_))))
}

/// The name of an object: its id or code, or else its title or a person's name.
fn named<'n>(members: &'n [(&str, Node<'_>)]) -> Option<Cow<'n, str>> {
    let texts = || members.iter().filter_map(|(key, value)| Some((*key, value.text()?)));
    let text = |name: &str| texts().find(|(key, _)| *key == name).map(|(_, value)| value);
    if let (Some(first), Some(last)) = (text("first_name"), text("last_name")) {
        return Some(format!("{first} {last}").into());
    }
    let short = |value: &&str| (3..=NAME_BYTES).contains(&value.len());
    let ends = |key: &str, words: &[&str]| words.iter().any(|word| ends_in(key, word));
    let id = texts()
        .find(|(key, value)| ends(key, &["id", "number", "code", "key"]) && short(value) && names(value));
    let name = || texts().find(|(key, value)| ends(key, &["name", "title"]) && short(value));
    id.or_else(name).map(|(_, value)| value.into())
}

/// Whether a field is `word`, or its last word is: `order_id` for `id`.
fn ends_in(field: &str, word: &str) -> bool {
    let parts = field.len().checked_sub(word.len()).and_then(|at| field.split_at_checked(at));
    parts.is_some_and(|(start, last)| {
        last.eq_ignore_ascii_case(word) && (start.is_empty() || start.ends_with('_'))
    })
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
fn is_dull(field: &str, value: &Node<'_>) -> bool {
    const FIELDS: [&str; 8] =
        ["zip", "seat", "created", "updated", "timestamp", "address1", "address2", "baggage"];
    const VALUES: [&str; 7] = ["available", "active", "success", "ok", "true", "false", "none"];
    let is_value = match value {
        Node::Object(members) if !starts_with_number(members) => return false,
        Node::Text(text) => VALUES.iter().any(|dull| text.eq_ignore_ascii_case(dull)),
        _ => false,
    };
    let has = |dull: &&str| {
        field.as_bytes().windows(dull.len()).any(|part| part.eq_ignore_ascii_case(dull.as_bytes()))
    };
    is_value || FIELDS.iter().any(has)
}

/// Whether a field is about a person, and rarely asked for again.
pub(in crate::extractive) fn is_personal(field: &str) -> bool {
    ["dob", "birth"].iter().any(|part| field.contains(part))
}

/// Whether a field says something about its object that its value alone does not say.
pub(in crate::extractive) fn is_attribute(field: &str) -> bool {
    const ENDS: [&str; 22] = phrases(
        "status|state|cabin|class|insurance|membership|tier|type|phone_number|address|rating|fare|rent|date|\
        time|amount|balance|price|total|cost|fee|city",
    );
    let field = field.trim_end_matches('s');
    ENDS.iter().any(|end| ends_in(field, end.trim_end_matches('s')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str, key: Option<&str>) -> Vec<String> {
        let mut told = Vec::new();
        let each = |held: Held<'_>| {
            told.push(format!("{:?} {} {}", held.of.as_deref(), held.field, held.value));
        };
        assert!(values(json, key, each));
        told
    }

    #[test]
    fn a_value_belongs_to_the_object_that_has_it() {
        let json = r#"[{"flight_number": "HAT030", "prices": {"economy": 92}, "seats": {"economy": 3}}]"#;
        let told = told(json, Some("DEN"));
        assert_eq!(told, ["Some(\"DEN\") flight_number HAT030", "Some(\"HAT030\") price economy 92"]);
        assert!(!values("ok", None, |_| {}));
        assert!(!values("{'id': 3}", None, |_| {}));
    }

    #[test]
    fn a_person_is_an_object() {
        let told = told(r#"{"first_name": "Ann", "last_name": "Lee", "dob": "1970-01-02"}"#, None);
        assert_eq!(told[2], "Some(\"Ann Lee\") dob 1970-01-02");
    }
}
