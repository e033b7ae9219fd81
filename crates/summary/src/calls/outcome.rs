//! How a call ended, by its result.
//!
//! In this order: a tag, a member of a JSON object, an exit code, the first words, and for what ran
//! something, a line such as `test t5 ... FAILED`: a pipe hides the exit code of all but its last command. Of a long
//! result only the two ends are read.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

use crate::{
    calls::{
        arguments::{cut, scalars},
        deed::Outcome,
        signs::{code, failure, is, is_announcement, opens_badly, success},
    },
    message::Answer,
};

/// How much of a result's head, and of its tail, is read, in bytes.
const END_BYTES: usize = 2_400;
/// The longest line told, in bytes.
const LINE_BYTES: usize = 300;
/// The most lines of a result that only says why nothing was read.
const BRIEF_LINES: usize = 8;

/// What a call did, as far as its result has to be read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It read something with a tool.
    Reads,
    /// It changed something with a tool.
    Changes,
    /// It ran commands that only look something up.
    Looks,
    /// It ran commands that change something, and no program that tests or builds: their words can be a commit's title.
    Acts,
    /// It ran programs, of which the exit code may be that of the last one alone.
    Runs { several: bool },
}

/// How a call ended.
pub(super) fn outcome(manner: Manner, answer: Option<Answer<'_>>, json: Option<&Value>) -> Outcome {
    let Some(answer) = answer else { return Outcome::Unanswered };
    let lines = lines(answer.text);
    // the user stopped it, or it had not the form of a call
    let is_own = |line: &String| {
        is("declined", line) && is("user", line) || lines.len() <= BRIEF_LINES && is("form", line)
    };
    if lines.first().is_some_and(is_own) {
        return Outcome::Declined;
    }
    if is_tagged(answer.text) {
        return Outcome::Failed(error_line(answer.text, &lines));
    }
    match json {
        Some(Value::Object(members)) => of_object(manner, members),
        Some(_) => Outcome::Ok,
        None if failed(manner, &lines) => Outcome::Failed(error_line(answer.text, &lines)),
        None => Outcome::Ok,
    }
}

/// Whether a tag around a result says that it is an error: `<tool_use_error>`.
fn is_tagged(text: &str) -> bool {
    let text = text.trim_start();
    let name = text[..text.floor_char_boundary(40)].strip_prefix('<').and_then(|rest| rest.split_once('>'));
    name.is_some_and(|(name, _)| {
        name.to_ascii_lowercase().split('_').any(|word| word == "error") && text.contains("</")
    })
}

/// What a check says of itself when all is well: `23 passed`.
pub(super) fn passed(text: &str, json: Option<&Value>) -> Option<Box<str>> {
    let text = json.map_or(Some(text), |value| output(value.as_object()?))?;
    let told = lines(text)
        .into_iter()
        .rev()
        .filter_map(|line| Some(cut(success(&line)?.trim_matches(['=', ' ', '*', '.', '✓']), 80)));
    // of several counts, the last that is not of nothing
    { told }.find(|line| !line.starts_with("0 ")).map(Into::into)
}

/// The lines of a text's two ends, without colours, blanks and tags around them; in order, none empty.
fn lines(text: &str) -> Vec<String> {
    let text = text.trim();
    let is_long = text.len() > 2 * END_BYTES;
    let cut_head = if is_long { text.floor_char_boundary(END_BYTES) } else { text.len() };
    let tail = if is_long { text.ceil_char_boundary(text.len() - END_BYTES) } else { text.len() };
    let parts = text[..cut_head].lines().chain(text[tail..].lines());
    parts.map(bare).filter(|line| !line.is_empty()).collect()
}

/// A line without colours, and without tags that wrap it; an exit code keeps the word that says that it is one.
fn bare(line: &str) -> String {
    static MARKS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\x1b(?:\[[0-9;]*[A-Za-z])?|^\s*<[A-Za-z_]+>|</[A-Za-z_]+>\s*$").ok());
    let Some(marks) = &*MARKS else { return line.to_owned() };
    let (mut bare, mut at) = (String::with_capacity(line.len()), 0);
    for mark in marks.find_iter(line).filter(|mark| !line[mark.range()].contains("code")) {
        bare.push_str(&line[at..mark.start()]);
        at = mark.end();
    }
    bare.push_str(&line[at..]);
    bare.trim().to_owned()
}

/// By the members that say so: an error, a success, a status, an exit code; else by the output that it holds.
fn of_object(manner: Manner, members: &Map<String, Value>) -> Outcome {
    let output = output(members);
    let lines = output.map(lines).unwrap_or_default();
    let code = exit_member(members).filter(|code| *code != 0);
    let is_none = code == Some(1) && manner == Manner::Looks && !lines.iter().any(|line| failure(line) > 1);
    // what a program printed may well speak of errors
    let is_text = |value: &Value| manner != Manner::Looks || value.is_string() || value.is_boolean();
    let is_bad = output.is_none()
        && members.iter().any(|(key, value)| is_bad(&key.to_lowercase(), value) && is_text(value));
    match (output, code) {
        _ if is_bad => Outcome::Failed(message(members)),
        (Some(text), code) if code.is_some() && !is_none || failed(manner, &lines) => {
            let told = Some(error_line(text, &lines)).filter(|line| !line.is_empty());
            Outcome::Failed(told.unwrap_or_else(|| format!("exit code {}", code.unwrap_or(1)).into()))
        }
        (None, Some(code)) if !is_none => Outcome::Failed(format!("exit code {code}").into()),
        _ => Outcome::Ok,
    }
}

/// Whether a member says that something failed.
fn is_bad(key: &str, value: &Value) -> bool {
    match value {
        Value::Bool(flag) if names_success(key) => !flag,
        Value::Bool(flag) => *flag && names_error(key),
        Value::Number(number) => {
            let is_status = matches!(key, "status" | "statuscode" | "status_code" | "code");
            is_status && number.as_u64().is_some_and(|number| (400..600).contains(&number))
        }
        Value::String(text) if matches!(key, "status" | "state" | "result" | "outcome") => is("status", text),
        Value::String(text) => names_error(key) && !matches!(text.trim(), "" | "None" | "none"),
        Value::Array(values) => names_error(key) && !values.is_empty(),
        Value::Object(members) => names_error(key) && !members.is_empty(),
        Value::Null => false,
    }
}

fn names_success(key: &str) -> bool {
    matches!(key, "success" | "ok" | "succeeded" | "successful")
}

fn names_error(key: &str) -> bool {
    matches!(key.replace('_', "").as_str(), "error" | "errors" | "exception" | "errormessage" | "iserror")
}

/// The text that a program printed, among the members of its result.
fn output(members: &Map<String, Value>) -> Option<&str> {
    let mut texts = ["stderr", "stdout", "output"].iter().filter_map(|key| members.get(*key)?.as_str());
    texts.find(|text| !text.trim().is_empty())
}

fn exit_member(members: &Map<String, Value>) -> Option<i64> {
    members.iter().find_map(|(key, value)| match value {
        Value::Object(inner) => exit_member(inner),
        _ if matches!(key.to_lowercase().replace('_', "").as_str(), "exitcode" | "returncode") => {
            value.as_i64()
        }
        _ => None,
    })
}

/// What an object says of its failure: the longest text of its error, or else of all of it.
fn message(members: &Map<String, Value>) -> Box<str> {
    let errors = members
        .iter()
        .filter(|(key, value)| is_bad(&key.to_lowercase(), value))
        .filter_map(|(_, value)| longest(value));
    let own = errors.max_by_key(String::len).filter(|text| text.contains(' '));
    let whole = || members.values().filter_map(longest).max_by_key(String::len);
    cut(&own.or_else(whole).unwrap_or_default(), LINE_BYTES).into()
}

fn longest(value: &Value) -> Option<String> {
    let texts = scalars(value).into_iter().filter(|scalar| scalar.is_text).map(|scalar| scalar.value);
    texts.max_by_key(String::len)
}

/// Whether a result that is no JSON reports a failure.
fn failed(manner: Manner, lines: &[String]) -> bool {
    let Some(first) = lines.first() else { return false };
    let ends = lines.iter().take(3).chain(lines.iter().rev().take(3));
    let is_brief = lines.len() <= BRIEF_LINES;
    let any = |least: u8| lines.iter().any(|line| failure(line) >= least);
    match (manner, ends.filter(|line| line.len() < 160).find_map(|line| code(line))) {
        // `grep` and `diff` exit with 1 to say "none"
        (Manner::Looks, Some(1)) => any(2),
        (Manner::Runs { several: true }, Some(0)) => any(3),
        (_, Some(code)) => code != 0,
        // the count of failures in a commit's title is none
        (Manner::Acts, None) => lines.iter().any(|line| failure(line) == 2) || opens_badly(first, is_brief),
        (Manner::Runs { .. }, None) => any(2) || opens_badly(first, is_brief),
        (Manner::Looks, None) => opens_badly(first, is_brief) || is_brief && failure(first) > 1,
        // an edit was refused: what it was to replace is not there, or not once, or the new text is faulty
        (Manner::Changes, None) => {
            opens_badly(first, true) || lines.iter().take(2).any(|line| is("refused", line))
        }
        (Manner::Reads, None) => opens_badly(first, is_brief),
    }
}

/// The line that says what failed.
fn error_line(text: &str, lines: &[String]) -> Box<str> {
    let telling = || lines.iter().filter(|line| !is_announcement(line));
    let failing = || telling().filter(|line| failure(line) > 0);
    // of a chain of exceptions, the last says what came of it
    let line = failing().rfind(|line| is("named", line)).or_else(|| failing().next());
    let line = line.or_else(|| telling().find(|line| is("error", line))).or_else(|| telling().next());
    let line = line.or_else(|| lines.iter().find(|line| line.contains(char::is_alphabetic)));
    let line = line.map_or(text, String::as_str);
    let line = line.strip_prefix("E  ").unwrap_or(line).trim_matches(['=', '#', ' ']);
    cut(line, LINE_BYTES).into()
}
