//! Which tool calls change something, and which only read.
//!
//! Decided in this order: by a statement or a request's method among the arguments; by the first words of the
//! tool's name; by a shell command or an action among the arguments; by the other words of the name; and if
//! none of these helps, by whether the same call was repeated, and whether its outcome or the assistant's
//! next words report that something was done.

mod commands;
mod effect;
mod evidence;
mod key;
mod leaves;
mod names;
mod program_names;
mod programs;
mod shell;
mod statements;
mod subcommands;
#[cfg(test)]
mod tests;
mod verbs;

use rustc_hash::FxHashMap;

use crate::{
    ToolCall,
    extractive::effects::{evidence::says_done, leaves::Leaf, names::Name},
};

pub(crate) use effect::Effect;
pub(crate) use key::key;
pub(in crate::extractive) use leaves::{Node, leaves};
pub(in crate::extractive) use shell::{Ran, ran};

/// A call that was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    /// The call itself.
    pub call: &'a ToolCall,
    /// The result; `None` if the call failed or was not answered.
    pub success: Option<&'a str>,
    /// What the assistant said next; empty if nothing.
    pub after: &'a str,
    /// Its effect judged by the call itself, as [`told`] returns it.
    pub told: Option<Effect>,
}

/// The effect of each of the calls, in order.
pub(crate) fn effects(calls: &[Made<'_>]) -> Vec<Effect> {
    let mut successes: FxHashMap<(&str, &str), u32> = FxHashMap::default();
    for made in calls.iter().filter(|made| made.told.is_none() && made.success.is_some()) {
        *successes.entry(parts(made.call)).or_default() += 1;
    }
    let is_repeated = |made: &Made<'_>| successes.get(&parts(made.call)).is_some_and(|times| *times > 1);
    calls.iter().map(|made| made.told.unwrap_or_else(|| shown(made, is_repeated(made)))).collect()
}

fn parts(call: &ToolCall) -> (&str, &str) {
    (&call.name, &call.arguments_json)
}

/// The effect of a call judged by its outcome.
fn shown(made: &Made<'_>, is_repeated: bool) -> Effect {
    let is_done = made.success.is_some_and(|result| says_done(result) || says_done(made.after));
    if is_done && !is_repeated { Effect::Changes } else { Effect::Reads }
}

/// The effect of a call judged by the call itself.
pub(in crate::extractive) fn told(call: &ToolCall) -> Option<Effect> {
    let name = Name::of(&call.name);
    let arguments: Vec<Leaf<'_>> = leaves(&call.arguments_json).collect();
    if arguments.iter().any(is_trial) {
        return Some(Effect::Reads);
    }
    statements::by_statement(&name, &arguments)
        .or_else(|| name.opening().filter(|_| !name.is_editor()))
        .or_else(|| shell::by_command(&name, &arguments))
        .or_else(|| names::by_action(&arguments))
        .or_else(|| name.effect())
}

/// Whether a call rewrites the agent's own list of what to do.
pub(in crate::extractive) fn takes_notes(call: &ToolCall) -> bool {
    Name::of(&call.name).takes_notes()
}

/// Whether the tool is for tests or builds by its name, so that its result is a program's output.
pub(in crate::extractive) fn is_build(call: &ToolCall) -> bool {
    const WORDS: &[&str] = &["test", "tests", "pytest", "build", "builds", "compile", "lint", "typecheck"];
    Name::of(&call.name).has(WORDS)
}

/// Whether the argument makes the call a dry run: `dry_run: true`.
fn is_trial(leaf: &Leaf<'_>) -> bool {
    const KEYS: &[&str] = &["dry_run", "dryRun", "dry-run", "validate_only", "validateOnly", "preview_only"];
    leaf.raw == "true" && KEYS.contains(&leaf.key)
}
