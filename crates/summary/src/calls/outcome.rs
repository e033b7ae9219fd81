//! How a call ended, by its result.
//!
//! In this order: what the protocol says, a member of a JSON object, an exit code, the first words, and for what ran
//! something, a line such as `test t5 ... FAILED`: a pipe hides the exit code of all but its last command. Of a long
//! result only the two ends are read.

use serde_json::{Map, Value};

use crate::{
    calls::{
        arguments::cut,
        deed::Outcome,
        phrases::{begins, has, is_one},
        signs::{self, code, failure, is_announcement, is_form, is_named_error, opens_badly, tells},
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
    /// It ran programs; `tells` if their exit code is that of the whole.
    Runs { tells: bool },
}

/// How a call ended.
pub(super) fn outcome(manner: Manner, answer: Option<Answer<'_>>, json: Option<&Value>) -> Outcome {
    let Some(answer) = answer else { return Outcome::Unanswered };
    let lines = lines(answer.text);
    let is_own = |line: &String| is_declined(line) || lines.len() <= BRIEF_LINES && is_form(line);
    if lines.first().is_some_and(is_own) {
        return Outcome::Declined;
    }
    if answer.is_error == Some(true) || is_tagged(answer.text) {
        return Outcome::Failed(error_line(answer.text, &lines));
    }
    if answer.is_error == Some(false) && matches!(manner, Manner::Reads | Manner::Looks) {
        return Outcome::Ok;
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
    let told = lines(text).into_iter().rev().filter_map(|line| {
        let at = signs::success(&line)?;
        Some(cut(line[at..].trim_matches(['=', ' ', '*', '.', '✓']), 80))
    });
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

/// A line without colours, and without tags that wrap it.
fn bare(line: &str) -> String {
    let mut bare = String::with_capacity(line.len());
    let mut parts = line.split('\u{1b}');
    bare.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let code = part
            .strip_prefix('[')
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        bare.push_str(code.and_then(|rest| rest.get(1..)).unwrap_or(part));
    }
    let mut line = bare.trim();
    while let Some(inner) = unwrapped(line) {
        line = inner.trim();
    }
    line.to_owned()
}

/// What follows an opening tag, or comes before a closing one.
fn unwrapped(line: &str) -> Option<&str> {
    let is_name = |name: &str| {
        let name = name.strip_prefix('/').unwrap_or(name);
        !name.is_empty()
            && name.len() < 32
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte))
    };
    if let Some((name, rest)) =
        line.strip_prefix('<').and_then(|rest| rest.split_once('>')).filter(|(name, _)| is_name(name))
    {
        // an exit code keeps the word that says that it is one
        return (!name.contains("code")).then_some(rest);
    }
    let (rest, name) = line.strip_suffix('>')?.rsplit_once("</")?;
    (is_name(name) && !rest.starts_with('<')).then_some(rest)
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
        Value::String(text) if matches!(key, "status" | "state" | "result" | "outcome") => {
            is_one("status", &text.to_lowercase())
        }
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
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => values.iter().filter_map(longest).max_by_key(String::len),
        Value::Object(members) => members.values().filter_map(longest).max_by_key(String::len),
        _ => None,
    }
}

/// Whether a result that is no JSON reports a failure.
fn failed(manner: Manner, lines: &[String]) -> bool {
    let Some(first) = lines.first() else { return false };
    let ends = lines.iter().take(3).chain(lines.iter().rev().take(3));
    let code = ends.filter(|line| line.len() < 160).find_map(|line| code(line));
    let worst = || lines.iter().map(|line| failure(line)).max().unwrap_or_default();
    let is_brief = lines.len() <= BRIEF_LINES;
    match (manner, code) {
        // `grep` and `diff` exit with 1 to say "none"
        (Manner::Looks, Some(1)) => {
            lines.iter().filter(|line| self::code(line).is_none()).any(|line| failure(line) > 1)
        }
        (_, Some(code)) if code != 0 => true,
        (Manner::Runs { tells: true } | Manner::Acts, Some(_)) => false,
        (Manner::Runs { .. }, Some(_)) => worst() > 2,
        (_, Some(_)) => false,
        (Manner::Acts, None) => lines.iter().any(|line| failure(line) == 2) || opens_badly(first, is_brief),
        (Manner::Runs { .. }, None) => worst() > 1 || opens_badly(first, is_brief),
        (Manner::Looks, None) => {
            opens_badly(first, is_brief) || is_brief && failure(first) > 1 && !is_listed(first)
        }
        (Manner::Changes, None) => opens_badly(first, true) || is_refused(lines),
        (Manner::Reads, None) => opens_badly(first, is_brief),
    }
}

/// A line that `grep -n` found, or that is numbered.
fn is_listed(line: &str) -> bool {
    let numbered = line
        .split(':')
        .take(2)
        .any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    numbered || line.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether an edit was refused: what it was to replace is not there, or not once, or the new text is faulty.
fn is_refused(lines: &[String]) -> bool {
    let head = lines.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ").to_lowercase();
    let head = &head[..head.floor_char_boundary(300)];
    has("refused", head) && !head.contains("success")
}

/// Whether the user stopped the call: `The user doesn't want to proceed`, `[Request interrupted by user for tool use]`.
fn is_declined(first: &str) -> bool {
    let lower = first[..first.floor_char_boundary(240)].to_lowercase().replace('’', "'");
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let names_user = bare.split(|c: char| !c.is_alphanumeric()).any(|word| word == "user");
    names_user && begins("stopped", bare).is_some() && has("declined", bare)
}

/// The line that says what failed.
fn error_line(text: &str, lines: &[String]) -> Box<str> {
    let mut best: Option<(u32, usize)> = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !is_announcement(line)) {
        let rank = tells(line);
        // of a chain of exceptions, the last says what came of it
        if best.is_none_or(|(most, _)| rank > most || rank == most && is_named_error(line)) {
            best = Some((rank, at));
        }
    }
    let line = best
        .map(|(_, at)| &lines[at])
        .or_else(|| lines.iter().find(|line| line.contains(char::is_alphabetic)));
    let line = line.map_or(text, String::as_str);
    let line = line.strip_prefix("E  ").unwrap_or(line).trim_matches(['=', '#', ' ']);
    cut(line, LINE_BYTES).into()
}
