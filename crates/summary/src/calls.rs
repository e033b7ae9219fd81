//! What a call did: to what, whether it changed something, and how it ended.

mod arguments;
mod commands;
mod deed;
mod editors;
mod outcome;
mod phrases;
mod programs;
mod shell;
mod signs;
#[cfg(test)]
mod tests;
mod verbs;

use serde_json::Value;

use crate::{
    calls::{
        arguments::{Argument, has_path},
        commands::Done,
        outcome::Manner,
        verbs::{Does, named},
    },
    message::Call,
};

pub(crate) use arguments::cut;
pub use deed::{Deed, Outcome};
pub(crate) use verbs::words;

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

/// What a call did, in order: one deed, or one for each command of a script that changes, checks or runs something.
///
/// `open_file` is the file that an editor has open; it is kept from call to call.
pub fn deeds(call: &Call<'_>, open_file: &mut Option<Box<str>>) -> Vec<Deed> {
    deeds_of(call, &Json::of(call), open_file)
}

/// The same of a call whose JSON was read.
pub(crate) fn deeds_of(call: &Call<'_>, json: &Json, open_file: &mut Option<Box<str>>) -> Vec<Deed> {
    let arguments = arguments::read(call.arguments, json.arguments.as_ref());
    if let Some(file) = call.result.and_then(|answer| editors::opened(answer.text)) {
        *open_file = (file != "n/a").then(|| file.into());
    }
    let script = commands::script(call.tool, &arguments);
    let done = match &script {
        Some(script) => commands::done(script, open_file),
        None => vec![by_tool(call.tool, &arguments, open_file)],
    };
    let manner = manner(&done, script.is_some());
    judged(call, json, done, outcome::outcome(manner, call.result, json.result.as_ref()))
}

/// What a tool does that runs no commands.
fn by_tool(tool: &str, arguments: &[Argument], open_file: &mut Option<Box<str>>) -> Done {
    let patches: Vec<Box<str>> =
        arguments.iter().flat_map(|argument| editors::patched(&argument.value)).collect();
    // a tool that nothing is known of changes something
    let program = || programs::is_program(tool).then(|| programs::known(&[tool]).does);
    let verb = named(tool).map(|verb| verb.does).or_else(program).unwrap_or(Does::Changes);
    let does = match commands::stated(tool, arguments) {
        _ if !patches.is_empty() && verb != Does::Reads => Does::Changes,
        Some(does) => does,
        None => verb,
    };
    let mut objects = arguments::objects(tool, arguments);
    let own = words(tool);
    let edits = own.iter().any(|word| ["edit", "insert", "append", "replace"].contains(&word.as_str()));
    if does == Does::Changes && !patches.is_empty() {
        objects = patches;
    } else if does == Does::Changes && edits && !has_path(arguments) && open_file.is_some() {
        objects = open_file.iter().cloned().collect();
    }
    if open_file.is_none()
        && own.iter().any(|word| matches!(word.as_str(), "open" | "create"))
        && has_path(arguments)
    {
        *open_file = objects.first().cloned();
    }
    let check = matches!(does, Does::Checks | Does::Runs).then(|| told(tool, &objects));
    Done { tool: tool.to_owned(), objects, does, changed: does == Does::Changes, check, tells: true }
}

fn told(tool: &str, objects: &[Box<str>]) -> String {
    objects.iter().fold(tool.to_owned(), |text, object| text + " " + object)
}

/// How the result is to be read.
fn manner(done: &[Done], is_script: bool) -> Manner {
    let checks = done.iter().any(|done| runs(done) || done.check.is_some());
    match is_script {
        true if checks => Manner::Runs { tells: done.iter().all(|done| done.tells) },
        true if done.iter().any(|done| done.changed) => Manner::Acts,
        true => Manner::Looks,
        false if checks => Manner::Runs { tells: false },
        false if done.iter().any(|done| done.changed) => Manner::Changes,
        false => Manner::Reads,
    }
}

fn runs(done: &Done) -> bool {
    matches!(done.does, Does::Checks | Does::Runs | Does::Launches)
}

/// The deeds with their outcomes. What fails is what is run, or all of it; what was done before it was done.
fn judged(call: &Call<'_>, json: &Json, done: Vec<Done>, outcome: Outcome) -> Vec<Deed> {
    let is_passed = outcome == Outcome::Ok && done.iter().any(|done| done.check.is_some());
    let answer = call.result.filter(|_| is_passed);
    let passed = answer.and_then(|answer| outcome::passed(answer.text, json.result.as_ref()));
    let first_run = done.iter().position(runs).unwrap_or_default();
    let deed = |(at, done): (usize, Done)| Deed {
        tool: arguments::cut(&done.tool, TOOL_BYTES).into(),
        objects: done.objects,
        changed: done.changed,
        tests: done.does == Does::Checks,
        passed: passed.clone().filter(|_| done.check.is_some()),
        check: done.check.map(Into::into),
        outcome: match outcome {
            Outcome::Failed(_) if at < first_run => Outcome::Ok,
            _ => outcome.clone(),
        },
    };
    done.into_iter().enumerate().map(deed).collect()
}
