//! What programs do, judged by their names and words.

use crate::extractive::effects::{
    commands::{Command, commands},
    effect::Effect,
    names::{Name, of_words},
    program_names::{CONTAINERS, READERS, TRIALS, WRITERS, WRITING, is_in},
    statements::statement,
    subcommands::{git, has_short, make, request},
};

/// How many words after a program's name can reveal what it does.
const TELLING_WORDS: usize = 3;

/// How deep commands within commands are read.
const MOST_DEEP: usize = 4;

/// The effect of a script: it changes something if one of its commands does.
pub(super) fn script_effect(script: &str, depth: usize) -> Option<Effect> {
    if depth > MOST_DEEP {
        return None;
    }
    let effects: Vec<Option<Effect>> =
        commands(script).iter().map(|command| effect(command, depth)).collect();
    match () {
        () if effects.contains(&Some(Effect::Changes)) => Some(Effect::Changes),
        () if !effects.is_empty() && effects.iter().all(Option::is_some) => Some(Effect::Reads),
        () => None,
    }
}

/// The effect of a command; `None` if unknown.
pub(super) fn effect(command: &Command, depth: usize) -> Option<Effect> {
    if command.writes.is_some() {
        return Some(Effect::Changes);
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    of_program(unwrapped(&words), &command.input, depth)
}

fn of_program(words: &[&str], input: &str, depth: usize) -> Option<Effect> {
    let [program, arguments @ ..] = words else { return Some(Effect::Reads) };
    if arguments.is_empty() && program.contains(char::is_whitespace) {
        return script_effect(program, depth + 1);
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if arguments.iter().any(|word| TRIALS.contains(word)) {
        return Some(Effect::Reads);
    }
    if arguments.iter().any(|word| matches!(*word, "--fix" | "--write" | "--in-place" | "--inplace")) {
        return Some(Effect::Changes);
    }
    if is_in(name, READERS) {
        return Some(Effect::Reads);
    }
    if is_in(name, WRITERS) {
        return Some(Effect::Changes);
    }
    special(name, arguments, input, depth).unwrap_or_else(|| by_words(program, arguments))
}

/// The effect indicated by the first arguments (`gh pr create`, `npm install`, `aws s3 ls`) or by a script's
/// name.
fn by_words(program: &str, arguments: &[&str]) -> Option<Effect> {
    let is_script = program.contains(['/', '.']);
    let own = is_script.then(|| of_name(program.rsplit('/').next().unwrap_or(program))).flatten();
    let telling = arguments.iter().filter(|word| !word.starts_with('-')).take(TELLING_WORDS);
    own.or_else(|| {
        telling.into_iter().find_map(|word| match word.rsplit('/').next().unwrap_or(word) {
            "ls" => Some(Effect::Reads),
            "cp" | "mv" => Some(Effect::Changes),
            bare if bare.len() < 32 => of_name(bare),
            _ => None,
        })
    })
}

fn of_name(word: &str) -> Option<Effect> {
    let word = word.split_once('.').map_or(word, |(bare, _)| bare);
    let name = Name::of(word);
    of_words(&name.words().collect::<Vec<_>>())
}

/// Handles programs that need special knowledge. `None` for others; `Some(None)` if their effect is unknown.
fn special(name: &str, arguments: &[&str], input: &str, depth: usize) -> Option<Option<Effect>> {
    let changes = |does: bool| Some(Some(if does { Effect::Changes } else { Effect::Reads }));
    let first = arguments.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let has = |any: &[&str]| arguments.iter().any(|word| any.contains(word));
    match name {
        "git" => changes(git(arguments)),
        "sed" | "perl" if has_short(arguments, 'i') => changes(true),
        "sed" => changes(false),
        "tee" => changes(arguments.iter().any(|word| !word.starts_with(['-', '>']) && *word != "/dev/null")),
        "find" => Some(Some(find(arguments, depth))),
        "curl" | "wget" | "http" | "https" | "xh" => Some(Some(request(name, arguments))),
        "tar" => changes(!arguments.first().is_some_and(|flags| flags.contains('t'))),
        "unzip" => changes(!has_short(arguments, 'l')),
        "crontab" => changes(!has(&["-l"])),
        "make" | "gmake" => changes(make(arguments)),
        "docker" | "podman" | "docker-compose" | "nerdctl" | "vagrant" if has(&CONTAINERS) => changes(true),
        "npm" | "pnpm" | "yarn" | "bun" if matches!(first, "ci" | "i") => changes(true),
        "go" if matches!(first, "get" | "mod") => changes(true),
        "cargo" | "go" | "dotnet" | "mvn" | "gradle"
            if matches!(first, "build" | "check" | "test" | "vet" | "clippy" | "doc" | "bench" | "tree") =>
        {
            changes(false)
        }
        "cargo" | "dotnet" if first == "new" => changes(true),
        "pip" | "pip3" if matches!(first, "download" | "wheel") => changes(true),
        "psql" | "mysql" | "sqlite3" | "duckdb" | "mariadb" => {
            Some(arguments.iter().copied().chain([input]).find_map(statement))
        }
        "bash" | "sh" | "zsh" | "dash" | "su" => Some(script_of(arguments, depth)),
        "python" | "python3" | "node" | "ruby" | "deno" | "php" | "perl" => program_of(arguments, input),
        _ => None,
    }
}

fn find(arguments: &[&str], depth: usize) -> Effect {
    let runs = arguments.iter().position(|word| matches!(*word, "-exec" | "-execdir" | "-ok"));
    let run = runs.and_then(|at| of_program(unwrapped(&arguments[at + 1..]), "", depth + 1));
    match arguments.contains(&"-delete") || run == Some(Effect::Changes) {
        true => Effect::Changes,
        false => Effect::Reads,
    }
}

/// The effect of `bash -c "…"`, or of a script file by its name.
fn script_of(arguments: &[&str], depth: usize) -> Option<Effect> {
    let at = arguments.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
    match at.and_then(|at| arguments.get(at + 1)) {
        Some(script) => script_effect(script, depth + 1),
        None => by_words("", arguments),
    }
}

/// The effect of inline code, judged by whether it writes files; `None` for a program in a file.
fn program_of(arguments: &[&str], input: &str) -> Option<Option<Effect>> {
    let at = arguments.iter().position(|word| matches!(*word, "-c" | "-e" | "--eval" | "-r"));
    let text = at.and_then(|at| arguments.get(at + 1)).copied().unwrap_or(input);
    if text.is_empty() {
        return None;
    }
    let writes = WRITING.iter().any(|phrase| text.contains(phrase));
    Some(Some(if writes { Effect::Changes } else { Effect::Reads }))
}

/// The command without its launcher: `sudo`, `env A=1`, `timeout 5`, `npx`, `python -m`.
pub(super) fn unwrapped<'w, 'a>(mut words: &'w [&'a str]) -> &'w [&'a str] {
    loop {
        let Some((first, rest)) = words.split_first() else { return words };
        let name = first.rsplit('/').next().unwrap_or(first);
        let skipped = match name {
            _ if is_assignment(first) => 0,
            "sudo" | "env" | "nohup" | "exec" | "command" | "time" | "nice" | "xargs" | "stdbuf" | "npx"
            | "bunx" | "uvx" | "doas" | "watch" => flags(rest),
            "timeout" => flags(rest) + 1,
            "ssh" => flags(rest) + 1,
            "poetry" | "uv" | "pipenv" | "pdm" | "hatch" | "pnpm" | "bundle" | "yarn"
                if rest.first().is_some_and(|word| matches!(*word, "run" | "exec" | "dlx")) =>
            {
                1
            }
            "python" | "python3" if rest.first() == Some(&"-m") => 1,
            "docker" | "podman" if rest.first() == Some(&"exec") => 2 + flags(&rest[1..]),
            "kubectl" if rest.first() == Some(&"exec") => match rest.iter().position(|word| *word == "--") {
                Some(at) => at + 1,
                None => return words,
            },
            _ => return words,
        };
        words = rest.get(skipped..).unwrap_or_default();
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn flags(words: &[&str]) -> usize {
    words.iter().take_while(|word| word.starts_with('-') || is_assignment(word)).count()
}
