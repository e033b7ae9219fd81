//! Tools that run commands: the command, and the part of it that changes something.

use std::ops::Range;

use crate::domain::extractive::effects::{
    commands::commands,
    effect::Effect,
    leaves::Leaf,
    names::Name,
    programs::{effect, script_effect},
};

/// The effect of a tool that runs commands, by its command. An unknown command counts as a test run.
pub(super) fn by_command(name: &Name, arguments: &[Leaf<'_>]) -> Option<Effect> {
    Some(script_effect(&script(name, arguments)?, 0).unwrap_or(Effect::Reads))
}

/// The command that a call runs, if its tool runs commands.
pub(super) fn script(name: &Name, arguments: &[Leaf<'_>]) -> Option<String> {
    const SHELLS: &[&str] =
        &["bash", "sh", "zsh", "shell", "terminal", "powershell", "cmd", "console", "exec", "command", "ssh"];
    const RUNS: &[&str] = &["run", "execute"];
    const KEYS: &[&str] = &[
        "command",
        "cmd",
        "commands",
        "script",
        "input",
        "code",
        "bash_command",
        "shell_command",
        "commandLine",
        "CommandLine",
    ];
    let is_shell = name.has(SHELLS);
    let mut texts = arguments.iter().filter(|leaf| leaf.is_text && leaf.depth <= 1);
    let named: Vec<&Leaf<'_>> = texts.clone().filter(|leaf| KEYS.contains(&leaf.key)).collect();
    match named[..] {
        [] if is_shell => texts.next().map(|leaf| leaf.value().into_owned()),
        [only] if is_shell || name.has(RUNS) => Some(only.value().into_owned()),
        [.., last] if is_shell || name.has(RUNS) => Some(joined(&named, last)),
        _ => None,
    }
}

/// A command given as a list: for `["bash", "-lc", "…"]`, the last element.
fn joined(words: &[&Leaf<'_>], last: &Leaf<'_>) -> String {
    let wraps = words.len() == 3 && words[1].raw.starts_with('-') && words[1].raw.ends_with('c');
    match wraps {
        true => last.value().into_owned(),
        false => words.iter().map(|word| word.value().into_owned()).collect::<Vec<_>>().join(" "),
    }
}

/// The range from the first to the last command that changes something.
pub(super) fn changing(script: &str) -> Option<Range<usize>> {
    let commands = commands(script);
    let mut places =
        commands.iter().filter(|one| effect(one, 0) == Some(Effect::Changes)).map(|one| one.place.clone());
    let first = places.next()?;
    let end = places.next_back().map_or(first.end, |last| last.end);
    Some(first.start..end)
}
