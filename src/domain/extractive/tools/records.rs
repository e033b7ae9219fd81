//! The values of a JSON result, each with the object it belongs to: the price of a flight with the flight's number.

use std::{borrow::Cow, rc::Rc};

use crate::domain::{
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
/// The longest name of an object, in bytes.
const NAME_BYTES: usize = 40;

/// A value with its field and the object it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domain::extractive) struct Held<'a> {
    /// An id, a number, or a name; `None` if the object has none.
    pub of: Option<Rc<str>>,
    pub field: Cow<'a, str>,
    pub value: Cow<'a, str>,
}

/// Calls `each` for every value of a JSON result, in order; returns false if it is not JSON, or too large. `key` is the
/// object that was asked for.
pub(in crate::domain::extractive) fn values(
    result: &str,
    key: Option<&str>,
    each: impl FnMut(Held<'_>),
) -> bool {
    let result = result.trim();
    if !result.starts_with(['{', '[']) || result.len() > MOST_BYTES {
        return false;
    }
    let json = Node::of(result);
    let mut walk = Walk { each, left: MOST_VALUES };
    if let Some(json) = &json {
        walk.value(json, key.map(Rc::from).as_ref(), "", 0);
    }
    json.is_some()
}

struct Walk<F> {
    each: F,
    /// How many more values are read.
    left: usize,
}

impl<F: FnMut(Held<'_>)> Walk<F> {
    fn value(&mut self, value: &Node<'_>, of: Option<&Rc<str>>, field: &str, depth: usize) {
        if depth > MOST_DEEP || self.left == 0 {
            return;
        }
        match value {
            Node::Object(members) => self.object(members, of, field, depth),
            Node::Array(values) => values.iter().for_each(|value| self.value(value, of, field, depth + 1)),
            Node::Other => {}
            Node::Number(number) => self.leaf(of, field, number),
            Node::Text(text) => self.leaf(of, field, text),
        }
    }

    fn object(&mut self, members: &[(&str, Node<'_>)], of: Option<&Rc<str>>, field: &str, depth: usize) {
        let own: Option<Rc<str>> =
            named(members).map(Rc::from).or_else(|| names(field).then(|| field.into()));
        let is_table = own.is_none() && !field.is_empty() && starts_with_number(members);
        for (key, value) in members.iter().filter(|(key, value)| !is_dull(key, value)) {
            // the name itself belongs to what the object is in
            let is_name = value.text().is_some_and(|value| own.as_deref() == Some(value));
            let holder = own.as_ref().filter(|_| !is_name).or(of);
            match is_table {
                true => {
                    let field = format!("{} {key}", field.trim_end_matches('s'));
                    self.value(value, holder, &field, depth + 1);
                }
                false => self.value(value, holder, key, depth + 1),
            }
        }
    }

    fn leaf(&mut self, of: Option<&Rc<str>>, field: &str, value: &str) {
        self.left = self.left.saturating_sub(1);
        let is_plain = value.len() <= VALUE_BYTES && value.bytes().all(|byte| byte.is_ascii_graphic());
        let value = if is_plain { value.into() } else { folded(value, VALUE_BYTES).into() };
        (self.each)(Held { of: of.cloned(), field: field.into(), value });
    }
}

fn starts_with_number(members: &[(&str, Node<'_>)]) -> bool {
    matches!(members.first(), Some((_, Node::Number(_))))
}

/// The name of an object: its id or code, or else its title or a person's name.
fn named(members: &[(&str, Node<'_>)]) -> Option<String> {
    let texts = || members.iter().filter_map(|(key, value)| Some((*key, value.text()?)));
    let text = |name: &str| texts().find(|(key, _)| *key == name).map(|(_, value)| value);
    if let (Some(first), Some(last)) = (text("first_name"), text("last_name")) {
        return Some(format!("{first} {last}"));
    }
    let short = |value: &&str| (3..=NAME_BYTES).contains(&value.len());
    let ends = |key: &str, ends: &[&str]| {
        ends.iter().any(|end| {
            let own = key.len().checked_sub(end.len()).and_then(|at| key.split_at_checked(at));
            own.is_some_and(|(start, own)| {
                own.eq_ignore_ascii_case(end) && (start.is_empty() || start.ends_with('_'))
            })
        })
    };
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
