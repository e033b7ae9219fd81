//! One line per tool call: that it was made, and how it ended.

use std::sync::Arc;

use crate::{
    Role, Sequence, ToolCall, Utterance,
    exchange::{LateResult, Pairing, Said},
    extractive::{
        effects::{self, Effect, Made, Ran, effects, ran},
        text::clip::fold,
        tools::{
            arguments,
            outcome::{Manner, failure},
        },
    },
};

/// The limit for a tool's name, in bytes.
pub(in crate::extractive) const TOOL_BYTES: usize = 64;
/// The limit for the identifying argument, in bytes.
pub(in crate::extractive) const KEY_BYTES: usize = 120;
/// A one-line result up to this long, in bytes, is quoted; a longer one is not.
const RESULT_BYTES: usize = 80;
/// The outcome of a call without a result.
pub(in crate::extractive) const NO_ANSWER: &str = "no answer";
/// The limit for an error's first words, in bytes.
const ERROR_BYTES: usize = 120;
/// The longest id accepted for a created object, in bytes.
const MADE_BYTES: usize = 64;

/// A call and its result.
pub(in crate::extractive) struct Call<'a> {
    pub call: &'a ToolCall,
    /// The result's sequence and content.
    pub answer: Option<(Sequence, &'a str)>,
    /// The words of its failure.
    pub failure: Option<&'a str>,
    pub effect: Effect,
    /// The commands that it ran.
    pub ran: Option<Ran>,
}

/// All calls in `live`, in order, grouped by utterance.
pub(in crate::extractive) fn calls<'a>(
    source: &'a [Arc<Utterance>],
    live: &[&'a Utterance],
) -> Vec<Vec<Call<'a>>> {
    let mut answers = answers(source).into_iter();
    let (mut made, mut seen) = (Vec::new(), Vec::new());
    for (at, utterance) in live.iter().enumerate() {
        for (call, answer) in utterance.tool_calls().iter().zip(answers.by_ref()) {
            let (ran, told) = (ran(call), effects::told(call));
            let failure = match answer {
                Some((_, said)) => failure(manner(call, told, ran.as_ref()), said),
                None => Some(NO_ANSWER),
            };
            let success = answer.map(|(_, said)| said).filter(|_| failure.is_none());
            made.push(Made { call, success, after: said_after(&live[at..]), told });
            seen.push((answer, failure, ran));
        }
    }
    let mut all =
        made.iter().zip(effects(&made)).zip(seen).map(|((made, effect), (answer, failure, ran))| Call {
            call: made.call,
            answer,
            failure,
            effect,
            ran,
        });
    live.iter().map(|utterance| all.by_ref().take(utterance.tool_calls().len()).collect()).collect()
}

/// How the result of a call is to be read.
fn manner(call: &ToolCall, told: Option<Effect>, ran: Option<&Ran>) -> Manner {
    match ran {
        None if effects::is_build(call) => Manner::Runs,
        None if told == Some(Effect::Changes) => Manner::Changes,
        None => Manner::Tool,
        Some(ran) if ran.only_looks => Manner::Looks,
        Some(_) => Manner::Runs,
    }
}

/// What an assistant says next.
fn said_after<'a>(rest: &[&'a Utterance]) -> &'a str {
    let said = rest.iter().filter(|next| next.role == Role::Assistant && !next.content.is_empty());
    let mut said = said.skip_while(|next| next.sequence == rest[0].sequence);
    said.next().map_or("", |next| &next.content)
}

/// The results of all calls in `source`, in the order of the calls.
pub(in crate::extractive) fn answers(source: &[Arc<Utterance>]) -> Vec<Option<(Sequence, &str)>> {
    let live: Vec<&Utterance> =
        source.iter().filter(|utterance| utterance.is_live()).map(|utterance| &**utterance).collect();
    let results = Pairing::of(live.iter().map(|utterance| Said::from(*utterance))).results;
    let said = |place: usize| (live[place].sequence, &*live[place].content);
    results.into_iter().flatten().map(|result| result.map(said)).collect()
}

/// Appends `name(arguments) → outcome`, with `key`, the identifying argument, first; returns the length of
/// the name in bytes.
pub(in crate::extractive) fn tell(made: &Call<'_>, key: &str, text: &mut String) -> usize {
    let start = text.len();
    let Call { call, answer, failure, .. } = made;
    fold(&call.name, TOOL_BYTES, text);
    let name = text.len() - start;
    text.push('(');
    arguments::tell(&call.arguments_json, key, text);
    text.push_str(") → ");
    let answer = answer.map(|(_, said)| said);
    tell_outcome(answer, *failure, text);
    let new = answer.filter(|_| failure.is_none() && text.ends_with("ok")).and_then(created);
    if let Some(id) = new.filter(|id| !call.arguments_json.contains(id)) {
        text.push_str(": ");
        text.push_str(id);
    }
    // Words made only of control characters leave a blank.
    text.truncate(text.trim_end().len());
    name
}

/// The id at the start of a result: that of the created object.
fn created(result: &str) -> Option<&str> {
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
pub(in crate::extractive) fn tell_late(late: &LateResult, result: &str, text: &mut String) -> bool {
    text.push_str("late result of ");
    fold(&late.tool, TOOL_BYTES, text);
    text.push_str(" → ");
    let failure = failure(Manner::Tool, result);
    tell_outcome(Some(result), failure, text);
    text.truncate(text.trim_end().len());
    failure.is_some()
}

/// Whether a tool's result reports an error.
pub(in crate::extractive) fn failed(result: &str) -> bool {
    failure(Manner::Tool, result).is_some()
}

/// Appends the outcome of a call: `ok`, `ok: 12.0`, `error: no such order`, `no answer`.
pub(in crate::extractive) fn tell_outcome(answer: Option<&str>, failure: Option<&str>, text: &mut String) {
    match (answer, failure) {
        (Some(_), Some(words)) => {
            text.push_str("error: ");
            fold(words, ERROR_BYTES, text);
        }
        (Some(result), None) => tell_success(result.trim(), text),
        (None, _) => text.push_str(NO_ANSWER),
    }
}

fn tell_success(result: &str, text: &mut String) {
    let is_short = result.len() <= RESULT_BYTES && !result.contains('\n');
    text.push_str("ok");
    if is_short && !result.is_empty() && !result.eq_ignore_ascii_case("ok") {
        text.push_str(": ");
        fold(result, RESULT_BYTES, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(arguments: &str, answer: Option<&str>) -> String {
        let call = ToolCall { id: "1".into(), name: "look".into(), arguments_json: arguments.into() };
        let failure = answer.and_then(|said| failure(Manner::Tool, said));
        let answer = answer.map(|said| (Sequence(2), said));
        let mut text = String::new();
        tell(&Call { call: &call, answer, failure, effect: Effect::Reads, ran: None }, "", &mut text);
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
