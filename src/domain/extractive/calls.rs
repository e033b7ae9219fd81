//! One line per tool call: that it was made, and how it ended.

use std::sync::Arc;

use crate::domain::{
    Role, Sequence, ToolCall, Utterance,
    exchange::{LateResult, Pairing, Said},
    extractive::{
        arguments,
        clip::{clip, clip_tail, fold},
        effects::{Effect, Made, effects},
    },
};

/// The limit for a tool's name, in bytes.
const TOOL_BYTES: usize = 64;
/// A one-line result up to this long, in bytes, is quoted; a longer one is not.
const RESULT_BYTES: usize = 80;
/// The limit for an error's first words, in bytes.
const ERROR_BYTES: usize = 120;
/// How much of a result's head, and of its tail, is read, in bytes.
const READ_BYTES: usize = 400;
/// The longest id accepted for a created object, in bytes.
const MADE_BYTES: usize = 64;

/// A call and its result.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub call: &'a ToolCall,
    /// The result's sequence and content.
    pub answer: Option<(Sequence, &'a str)>,
    pub failed: bool,
    pub effect: Effect,
}

/// All calls in `live`, in order, grouped by utterance.
pub(super) fn calls<'a>(source: &'a [Arc<Utterance>], live: &[&'a Utterance]) -> Vec<Vec<Call<'a>>> {
    let mut answers = answers(source).into_iter();
    let mut made = Vec::new();
    for (at, utterance) in live.iter().enumerate() {
        for (call, answer) in utterance.tool_calls().iter().zip(answers.by_ref()) {
            let success = answer.map(|(_, said)| said).filter(|said| !failed(said));
            made.push((answer, Made { call, success, after: said_after(&live[at..]) }));
        }
    }
    let told: Vec<Made<'_>> = made.iter().map(|(_, made)| *made).collect();
    let mut all = made.into_iter().zip(effects(&told)).map(|((answer, made), effect)| Call {
        call: made.call,
        answer,
        failed: made.success.is_none(),
        effect,
    });
    live.iter().map(|utterance| all.by_ref().take(utterance.tool_calls().len()).collect()).collect()
}

/// What an assistant says next.
fn said_after<'a>(rest: &[&'a Utterance]) -> &'a str {
    let said = rest.iter().filter(|next| next.role == Role::Assistant && !next.content.is_empty());
    let mut said = said.skip_while(|next| next.sequence == rest[0].sequence);
    said.next().map_or("", |next| &next.content)
}

/// The results of all calls in `source`, in the order of the calls.
pub(super) fn answers(source: &[Arc<Utterance>]) -> Vec<Option<(Sequence, &str)>> {
    let live: Vec<&Utterance> =
        source.iter().filter(|utterance| utterance.is_live()).map(|utterance| &**utterance).collect();
    let results = Pairing::of(live.iter().map(|utterance| Said::from(*utterance))).results;
    let said = |place: usize| (live[place].sequence, &*live[place].content);
    results.into_iter().flatten().map(|result| result.map(said)).collect()
}

/// Appends `name(arguments) → outcome`, with `key`, the identifying argument, first; returns the length of
/// the name in bytes.
pub(super) fn tell(call: &ToolCall, key: &str, answer: Option<&str>, text: &mut String) -> usize {
    let start = text.len();
    fold(&call.name, TOOL_BYTES, text);
    let name = text.len() - start;
    text.push('(');
    arguments::tell(&call.arguments_json, key, text);
    text.push_str(") → ");
    let failed = tell_outcome(answer, text);
    let new = answer.filter(|_| !failed && text.ends_with("ok")).and_then(made);
    if let Some(id) = new.filter(|id| !call.arguments_json.contains(id)) {
        text.push_str(": ");
        text.push_str(id);
    }
    // Words made only of control characters leave a blank.
    text.truncate(text.trim_end().len());
    name
}

/// The id at the start of a result: that of the created object.
fn made(result: &str) -> Option<&str> {
    let member = result.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?;
    let (key, rest) = member.split_once('"')?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (id, _) = value.split_once('"')?;
    let is_id = key.ends_with("id") || key.ends_with("Id") || key.ends_with("ID");
    let is_plain =
        id.len() <= MADE_BYTES && !id.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
    (is_id && is_plain && !id.is_empty()).then_some(id)
}

/// Appends `late result of name → outcome`; returns whether the call failed.
pub(super) fn tell_late(late: &LateResult, result: &str, text: &mut String) -> bool {
    text.push_str("late result of ");
    fold(&late.tool, TOOL_BYTES, text);
    text.push_str(" → ");
    let failed = tell_outcome(Some(result), text);
    text.truncate(text.trim_end().len());
    failed
}

/// Whether a result reports an error.
pub(super) fn failed(result: &str) -> bool {
    error(result.trim()).is_some()
}

fn tell_outcome(answer: Option<&str>, text: &mut String) -> bool {
    let Some(result) = answer else {
        text.push_str("no answer");
        return true;
    };
    let result = result.trim();
    let Some(words) = error(result) else {
        tell_success(result, text);
        return false;
    };
    text.push_str("error: ");
    fold(words, ERROR_BYTES, text);
    true
}

fn tell_success(result: &str, text: &mut String) {
    let is_short = result.len() <= RESULT_BYTES && !result.contains('\n');
    text.push_str("ok");
    if is_short && !result.is_empty() && !result.eq_ignore_ascii_case("ok") {
        text.push_str(": ");
        fold(result, RESULT_BYTES, text);
    }
}

/// The words of the error that `result` reports, if any.
fn error(result: &str) -> Option<&str> {
    let head = clip(result, READ_BYTES);
    let tail = clip_tail(result, READ_BYTES);
    let first = head.lines().next()?;
    let is_json = first.starts_with(['{', '[']);
    if first.starts_with("Traceback") {
        return tail.lines().rev().find(|line| !line.trim().is_empty());
    }
    let told = if is_json { json_error(head) } else { spoken_error(first) };
    told.map(|words| match words.ends_with(':') {
        // It only announces the error.
        true => head.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or(words),
        false => words,
    })
    .or_else(|| exit_code(head))
    .or_else(|| exit_code(tail))
}

/// A first line such as `Error: no such order`, `bash: foo: command not found`.
fn spoken_error(line: &str) -> Option<&str> {
    const OPENINGS: &[&str] =
        &["error", "fatal", "failed", "failure", "panic", "unable to", "cannot", "invalid"];
    const PHRASES: &[&str] = &[
        "command not found",
        "No such file",
        "Permission denied",
        "error(s)",
        "Error:",
        "Exception:",
        "panicked at",
    ];
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    for opening in OPENINGS {
        let Some((start, rest)) = bare.split_at_checked(opening.len()) else { continue };
        if start.eq_ignore_ascii_case(opening) && rest.starts_with([':', ' ', '[', '!', '.', ']']) {
            let words = rest.strip_prefix(':').map_or(bare, str::trim_start);
            return Some(if words.is_empty() { bare } else { words });
        }
    }
    PHRASES.iter().any(|phrase| line.contains(phrase)).then_some(bare)
}

/// The value of a leading `"error"` member, unless it is empty, null, zero or false.
fn json_error(head: &str) -> Option<&str> {
    let (before, value) = head.split_once("\"error\"")?;
    let value = value.trim_start().strip_prefix(':')?.trim_start();
    let is_none = ["null", "false", "\"\"", "0", "[]", "{}"].iter().any(|none| value.starts_with(none));
    let words = value.trim_matches(|c| matches!(c, '{' | '}' | '"'));
    (before.len() < RESULT_BYTES && !is_none && !words.is_empty()).then_some(words)
}

/// `exit code 2`, but not `exit code 0`.
fn exit_code(part: &str) -> Option<&str> {
    ["exit code", "exit status", "exited with code"].iter().find_map(|phrase| {
        let from = part.rfind(phrase)?;
        let number = part[from + phrase.len()..].trim_start_matches([':', ' ']);
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let failed = number[..digits].bytes().any(|digit| digit != b'0');
        let end = part.len() - number.len() + digits;
        failed.then_some(&part[from..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(arguments: &str, answer: Option<&str>) -> String {
        let call = ToolCall { id: "1".into(), name: "look".into(), arguments_json: arguments.into() };
        let mut text = String::new();
        tell(&call, "", answer, &mut text);
        text
    }

    #[test]
    fn a_call_is_told_with_its_outcome() {
        let cases = [
            (None, "look() → no answer"),
            (Some(""), "look() → ok"),
            (Some("12.0\n"), "look() → ok: 12.0"),
            (Some("a\nb\nc"), "look() → ok"),
            (Some("{\"order_id\": \"W77\",\n\"lines\": []}"), "look() → ok: W77"),
            (Some("Error: not enough seats"), "look() → error: not enough seats"),
            (Some("bash: foo: command not found"), "look() → error: bash: foo: command not found"),
            (Some("{\"error\": \"no such order\"}"), "look() → error: no such order"),
            (Some("{\"error\": null, \"id\": 7}"), "look() → ok: {\"error\": null, \"id\": 7}"),
            (
                Some("Traceback (most recent call last):\n  x\nKeyError: 'a'\n"),
                "look() → error: KeyError: 'a'",
            ),
            (
                Some("thread 'main' panicked at a.rs:1: bad"),
                "look() → error: thread 'main' panicked at a.rs:1: bad",
            ),
            (Some("ERROR:\nno match in a.rs"), "look() → error: no match in a.rs"),
            (Some("one\ntwo\nexit code: 2"), "look() → error: exit code: 2"),
            (Some("one\ntwo\nexit code: 0"), "look() → ok"),
            (Some("Errors are handled in main"), "look() → ok: Errors are handled in main"),
        ];
        for (answer, expected) in cases {
            assert_eq!(told("{}", answer), expected);
        }
    }
}
