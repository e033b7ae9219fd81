//! What a call did: to what, whether it changed something, and how it ended.

mod arguments;
mod commands;
mod deed;
mod editors;
mod outcome;
mod programs;
mod shell;
mod signs;
#[cfg(test)]
mod tests;
mod verbs;

use serde_json::Value;

use crate::{
    calls::{arguments::Argument, outcome::Manner, verbs::named},
    message::Call,
};

pub(crate) use arguments::{cut, scalars};
pub(crate) use deed::{Deed, Outcome};
pub(crate) use verbs::{Does, words};

/// The longest name of a tool, in bytes.
const TOOL_BYTES: usize = 64;
/// A larger result is not read as JSON, in bytes.
const JSON_BYTES: usize = 256 << 10;

/// The JSON of a call, read once.
pub(crate) struct Json {
    pub(crate) arguments: Option<Value>,
    /// An object or a list.
    pub(crate) result: Option<Value>,
}

impl Json {
    pub(crate) fn of(call: &Call<'_>) -> Self {
        let arguments = serde_json::from_str(call.arguments).ok();
        Self { arguments, result: call.result.and_then(|answer| json(answer.text)) }
    }
}

/// The object or the list that a text is.
fn json(text: &str) -> Option<Value> {
    let is_json = text.len() <= JSON_BYTES && text.trim_start().starts_with(['{', '[']);
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

/// What a call did, in order: one deed, or one for each command of a script that changes, checks or runs something. What
/// failed is what was run, or all of it; what was done before it was done.
pub(crate) fn deeds(call: &Call<'_>, json: &Json) -> Vec<Deed> {
    let arguments = arguments::read(call.arguments, json.arguments.as_ref());
    let script = commands::script(call.tool, &arguments);
    let mut deeds = match &script {
        Some(script) => commands::done(script),
        None => vec![by_tool(call.tool, &arguments)],
    };
    let outcome = outcome::outcome(manner(&deeds, script.as_deref()), call.result, json.result.as_ref());
    let is_passed = outcome == Outcome::Ok && deeds.iter().any(|deed| deed.check.is_some());
    let answer = call.result.filter(|_| is_passed);
    let passed = answer.and_then(|answer| outcome::passed(answer.text, json.result.as_ref()));
    let first_run = deeds.iter().position(Deed::runs).unwrap_or_default();
    for (at, deed) in deeds.iter_mut().enumerate() {
        let is_before = matches!(outcome, Outcome::Failed(_)) && at < first_run;
        deed.outcome = if is_before { Outcome::Ok } else { outcome.clone() };
        deed.passed = passed.clone().filter(|_| deed.check.is_some());
        deed.tool = cut(&deed.tool, TOOL_BYTES);
    }
    deeds
}

/// What a tool does that runs no commands.
fn by_tool(tool: &str, arguments: &[Argument]) -> Deed {
    let patches: Vec<Box<str>> =
        arguments.iter().flat_map(|argument| editors::patched(&argument.value)).collect();
    // a tool that nothing is known of changes something
    let verb = named(tool).map_or(Does::Changes, |verb| verb.does);
    let does = match commands::stated(tool, arguments) {
        _ if !patches.is_empty() && verb != Does::Reads => Does::Changes,
        Some(does) => does,
        None => verb,
    };
    let is_patch = does == Does::Changes && !patches.is_empty();
    let objects = if is_patch { patches } else { arguments::objects(tool, arguments) };
    let mut deed = Deed::of(tool, objects, does);
    let told = || deed.objects.iter().fold(tool.to_owned(), |text, object| text + " " + object);
    deed.check = deed.runs().then(told);
    deed
}

/// How the result is to be read.
fn manner(deeds: &[Deed], script: Option<&str>) -> Manner {
    let runs = deeds.iter().any(Deed::runs);
    let changes = deeds.iter().any(Deed::changed);
    match script.is_some() {
        _ if runs => Manner::Runs { several: script.is_some_and(|script| script.contains(['|', ';', '\n'])) },
        true if changes => Manner::Acts,
        true => Manner::Looks,
        false if changes => Manner::Changes,
        false => Manner::Reads,
    }
}
