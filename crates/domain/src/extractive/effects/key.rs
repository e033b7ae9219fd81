//! The identifying argument of a call.

use std::borrow::Cow;

use crate::{
    ToolCall,
    extractive::{
        effects::{
            leaves::{Leaf, leaves},
            names::Name,
            shell::{changing, script},
        },
        text::words::{IDENTIFIER, scan},
    },
    phrases::phrases,
};

/// The longest value without blanks, in bytes: enough for ids and paths.
const WORD_BYTES: usize = 160;
/// The longest value with blanks, in bytes.
const SHORT_BYTES: usize = 80;
/// The most bytes that JSON needs for one byte of text: `\u0041`.
const ESCAPE_BYTES: usize = 6;

/// The identifying argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    /// The argument's name; empty if it has none.
    pub name: &'a str,
    /// The value on one line, verbatim; for a shell command, the part that changes something.
    pub value: Cow<'a, str>,
}

/// The identifying argument: a reservation's id rather than its owner's, a path, a recipient, a command;
/// otherwise the first identifier, or the first short text. Of equals, the first.
pub(crate) fn key(call: &ToolCall) -> Option<Key<'_>> {
    let name = Name::of(&call.name);
    let arguments: Vec<Leaf<'_>> = leaves(&call.arguments_json).collect();
    if let Some(script) = script(&name, &arguments) {
        return command(&script);
    }
    let ranked = arguments.iter().filter_map(|leaf| Some((rank(leaf, &name)?, leaf)));
    let best = ranked.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, leaf)| Key { name: leaf.key, value: leaf.value() })
}

/// The first line of the part of a script that changes something, or of the whole script; plus the next line
/// if that is its input.
fn command<'a>(script: &str) -> Option<Key<'a>> {
    let part = changing(script).map_or(script, |place| &script[place]);
    let mut lines = part.trim().lines().map(str::trim);
    let mut value = lines.next()?.to_owned();
    if let (true, Some(next)) = (value.contains("<<"), lines.next()) {
        value.push(' ');
        value.push_str(next);
    }
    Some(Key { name: "command", value: value.into() })
}

/// How well an argument identifies the call's object: lower is better, `None` if it cannot.
fn rank(leaf: &Leaf<'_>, tool: &Name) -> Option<u32> {
    // code in an edit's arguments is known to be too long without being decoded
    if leaf.raw.len() > ESCAPE_BYTES * WORD_BYTES {
        return None;
    }
    let value = leaf.value();
    let is_word = !value.contains(char::is_whitespace);
    let limit = if is_word { WORD_BYTES } else { SHORT_BYTES };
    let is_number = !leaf.is_text && leaf.raw.bytes().all(|byte| byte.is_ascii_digit());
    if value.trim().is_empty() || value.len() > limit || value.contains('\n') || !leaf.is_text && !is_number {
        return None;
    }
    let nested = if leaf.depth > 1 { 1 } else { 0 };
    let rank = by_name(leaf.key, tool).filter(|_| leaf.is_text || is_id(leaf.key));
    let rank = rank.or_else(|| leaf.is_text.then(|| if names(&value) { 50 } else { 70 }))?;
    Some(rank + nested * 15)
}

/// How well the argument's name suggests that it identifies the object.
fn by_name(name: &str, tool: &Name) -> Option<u32> {
    let name = Name::of(name);
    let words: Vec<&str> = name.words().collect();
    let last = words.last().copied().unwrap_or_default();
    let has = |any: &[&str]| any.contains(&last);
    let is_whose = words.iter().any(|word| WHOSE.contains(word));
    let is_of_tool = words.len() > 1 && tool.words().any(|word| word == words[0]);
    match () {
        () if has(IDS) && is_whose && !is_of_tool => Some(55),
        () if has(IDS) && is_of_tool => Some(0),
        () if has(IDS) => Some(10),
        () if has(&PATHS) => Some(20),
        () if has(RECIPIENTS) => Some(30),
        () if has(NAMES) => Some(40),
        () => None,
    }
}

fn is_id(key: &str) -> bool {
    let name = Name::of(key);
    name.words().next_back().is_some_and(|last| IDS.contains(&last))
}

/// Whether a value is an identifier, a path or an address.
fn names(value: &str) -> bool {
    let mut found = false;
    if !value.contains(char::is_whitespace) {
        scan(value, |word| found |= word.weight == IDENTIFIER);
    }
    found || value.contains(['@', '/']) && !value.contains(char::is_whitespace)
}

const IDS: &[&str] =
    &["id", "ids", "uuid", "number", "no", "sku", "ref", "reference", "code", "key", "sha", "arn"];
/// Ids of these name an owner, not the object.
const WHOSE: [&str; 15] = phrases(
    "user|customer|account|payment|session|tenant|org|organization|workspace|request|thread|trace|client|api|\
    method",
);
const PATHS: [&str; 20] = phrases(
    "path|file|filename|filepath|paths|files|directory|folder|dir|url|uri|repo|repository|branch|table|\
    bucket|pod|deployment|resource|service",
);
const RECIPIENTS: &[&str] =
    &["to", "recipient", "recipients", "email", "phone", "channel", "address", "username"];
const NAMES: &[&str] =
    &["name", "title", "subject", "command", "query", "city", "label", "symbol", "product"];
