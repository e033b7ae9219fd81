//! Tools that run commands: the command, and the part of it that changes something.

use std::ops::Range;

use crate::{
    ToolCall,
    extractive::{
        effects::{
            commands::{Command, commands},
            effect::Effect,
            leaves::{Leaf, leaves},
            names::Name,
            programs::{effect, script_effect, unwrapped},
        },
        text::clip::folded,
    },
    phrases::phrases,
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
    const KEYS: [&str; 10] =
        phrases("command|cmd|commands|script|input|code|bash_command|shell_command|commandLine|CommandLine");
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

/// What a call's commands do.
#[derive(Debug, Default)]
pub(in crate::extractive) struct Ran {
    /// The commands that change something: the file that one writes, or its first words.
    pub changes: Vec<String>,
    /// The last test or build; without one, the last program that is not known to only look something up.
    pub check: Option<String>,
    /// Whether `check` is a test or a build.
    pub is_test: bool,
    /// Whether every command is known to only look something up.
    pub only_looks: bool,
}

/// The longest command shown, in bytes.
const SHOWN_BYTES: usize = 240;
/// The longest title of a commit shown, in bytes.
const TITLE_BYTES: usize = 160;

/// Reads the commands that a call runs; `None` if its tool does not run commands.
pub(in crate::extractive) fn ran(call: &ToolCall) -> Option<Ran> {
    let arguments: Vec<Leaf<'_>> = leaves(&call.arguments_json).collect();
    let script = script(&Name::of(&call.name), &arguments)?;
    let mut ran = Ran { only_looks: true, ..Ran::default() };
    for command in commands(&script) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let words = unwrapped(&words);
        let of = effect(&command, 0);
        let tests = is_test(words);
        // a program of the conversation's own is a check, whatever its name says
        let changes = of == Some(Effect::Changes) && (command.writes.is_some() || !runs(words));
        let change = changed(&command, words).filter(|_| changes);
        ran.changes.extend(change.filter(|change| !ran.changes.contains(change)));
        if (tests || !ran.is_test && runs(words)) && !words.is_empty() {
            (ran.check, ran.is_test) = (Some(folded(&words.join(" "), SHOWN_BYTES)), tests);
        }
        ran.only_looks &= of == Some(Effect::Reads) && !tests;
    }
    Some(ran)
}

/// What a command changes.
fn changed(command: &Command, words: &[&str]) -> Option<String> {
    let [program, arguments @ ..] = words else { return command.writes.clone() };
    let plain = || arguments.iter().filter(|word| !word.starts_with('-'));
    let name = program.rsplit('/').next().unwrap_or(program);
    if let Some(file) = &command.writes {
        return Some(file.clone());
    }
    match name {
        "sed" | "perl" => plain().next_back().map(|file| format!("{name} {file}")),
        "git" if arguments.first() == Some(&"add") => None,
        "git" if arguments.first() == Some(&"commit") => {
            let message =
                arguments.iter().skip_while(|word| !word.starts_with("-") || !word.ends_with('m')).nth(1);
            let title = message.map_or("", |text| text.lines().next().unwrap_or(""));
            Some(format!("git commit \"{}\"", folded(title, TITLE_BYTES)))
        }
        _ => {
            Some(folded(&plain().take(3).fold(name.to_owned(), |text, word| text + " " + word), SHOWN_BYTES))
        }
    }
}

/// Programs that test or build, with a subcommand where they do other things too.
const TESTS: [&str; 55] = phrases(
    "pytest|tox|nosetests|unittest|tsc|tsgo|make|cmake|mvn|gradle|ruff|mypy|eslint|jest|vitest|rspec|phpunit|\
    runtests.py|pyright|flake8|pylint|biome|ctest|ninja|npm test|npm run|yarn test|yarn run|pnpm test|\
    pnpm run|yarn build|yarn lint|pnpm build|npx tsc|npx tsgo|npx vitest|npx jest|npx eslint|npx biome|\
    cargo test|cargo check|cargo build|cargo clippy|cargo run|cargo llvm-cov|go test|go build|go vet|\
    dotnet test|dotnet build|manage.py test|bun test|deno test|python -m|python3 -m",
);

fn is_test(words: &[&str]) -> bool {
    let base = |word: &&str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let bare: Vec<String> = words.iter().filter(|word| !word.contains('=')).take(3).map(base).collect();
    let tests = |words: &str| TESTS.contains(&words);
    let is_module = bare.len() == 3 && bare[1] == "-m";
    match &bare[..] {
        [python, _, module] if is_module && python.starts_with("python") => tests(module),
        [python, script, ..] if python.starts_with("python") => tests(script),
        [one, two, ..] => tests(one) || tests(&format!("{one} {two}")),
        [one] => tests(one),
        [] => false,
    }
}

/// Whether a command runs a program of its own.
fn runs(words: &[&str]) -> bool {
    const RUNNERS: [&str; 13] =
        phrases("python|python3|node|npx|ruby|perl|java|deno|php|flask|django-admin|gcc|ponyc");
    let Some(program) = words.first() else { return false };
    let has_script = [".py", ".sh", ".js", ".ts"].iter().any(|end| program.ends_with(end));
    RUNNERS.contains(program) || program.starts_with("./") || has_script
}
