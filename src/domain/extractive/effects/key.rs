//! The argument of a call that says which.

use std::borrow::Cow;

use crate::domain::{
    ToolCall,
    extractive::{
        effects::{
            leaves::{Leaf, leaves},
            names::Name,
            shell::{changing, script},
        },
        words::{IDENTIFIER, scan},
    },
};

/// A value without blanks is short up to so many bytes: ids and paths are.
const WORD_BYTES: usize = 160;
/// Any other is short up to so many.
const SHORT_BYTES: usize = 80;
/// A byte is written in so many at most: `\u0041`.
const ESCAPE_BYTES: usize = 6;

/// Which one a call was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domain) struct Key<'a> {
    /// The name of the argument; empty where it has none.
    pub name: &'a str,
    /// Its value: one line, as it was said; of a shell's command the part that changes something.
    pub value: Cow<'a, str>,
}

/// The argument that says which: a reservation's id rather than its owner's, a path, a recipient, a command; or
/// else the first identifier, or the first short text. Of equals the first.
pub(in crate::domain) fn key(call: &ToolCall) -> Option<Key<'_>> {
    let name = Name::of(&call.name);
    let arguments: Vec<Leaf<'_>> = leaves(&call.arguments_json).collect();
    if let Some(script) = script(&name, &arguments) {
        return command(&script);
    }
    let ranked = arguments.iter().filter_map(|leaf| Some((rank(leaf, &name)?, leaf)));
    let best = ranked.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, leaf)| Key { name: leaf.key, value: leaf.value() })
}

/// The first line of what a script changes, or of the script; with the next, where that is what it is given.
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

/// How well an argument says which; the less, the better. `None` when it cannot.
fn rank(leaf: &Leaf<'_>, tool: &Name) -> Option<u32> {
    // the code that an edit carries need not be read to be too long
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

/// How well the name of an argument says that it says which.
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
        () if has(PATHS) => Some(20),
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
/// Ids of these say whose, not which.
const WHOSE: &[&str] = &[
    "user",
    "customer",
    "account",
    "payment",
    "session",
    "tenant",
    "org",
    "organization",
    "workspace",
    "request",
    "thread",
    "trace",
    "client",
    "api",
    "method",
];
const PATHS: &[&str] = &[
    "path",
    "file",
    "filename",
    "filepath",
    "paths",
    "files",
    "directory",
    "folder",
    "dir",
    "url",
    "uri",
    "repo",
    "repository",
    "branch",
    "table",
    "bucket",
    "pod",
    "deployment",
    "resource",
    "service",
];
const RECIPIENTS: &[&str] =
    &["to", "recipient", "recipients", "email", "phone", "channel", "address", "username"];
const NAMES: &[&str] =
    &["name", "title", "subject", "command", "query", "city", "label", "symbol", "product"];
