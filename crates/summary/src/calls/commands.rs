//! What the commands of a script do.

use crate::{
    calls::{
        arguments::{Argument, cut},
        deed::Deed,
        editors::{edits_open_file, patched},
        programs::{Known, base, is_program, known},
        shell::{Command, commands},
        signs::{self, is_statement},
        verbs::{Does, named, of_words, words},
    },
    shapes::{Shape, shape},
};

/// How deep commands within commands are read.
const MOST_DEEP: usize = 4;
/// The most commands of a script that are told.
const MOST_COMMANDS: usize = 40;
/// The most launchers before a command.
const MOST_LAUNCHERS: usize = 8;
/// The most objects of a command.
const MOST_OBJECTS: usize = 8;
/// The longest program with its subcommand, in bytes.
const LABEL_BYTES: usize = 48;
/// The longest command and the longest object told, in bytes.
const BYTES: (usize, usize) = (160, 160);

/// The script that a call runs, if its tool runs commands: by the tool's name, or by a value that begins with a program.
pub(super) fn script(tool: &str, arguments: &[Argument]) -> Option<String> {
    const KEYS: [&str; 5] = ["command", "commands", "cmd", "script", "argv"];
    let own = words(tool);
    let is_shell = own.iter().any(|word| signs::is("shell", word));
    if !is_shell && !own.iter().any(|word| signs::is("runner", word)) {
        return None;
    }
    let texts = || arguments.iter().filter(|argument| argument.is_text);
    let is_only = texts().count() == 1;
    let names = |argument: &&Argument| words(&argument.key).iter().any(|word| KEYS.contains(&word.as_str()));
    // one word is a command only if there is nothing else, and what a runner is told to do can be a sentence
    let begins = |argument: &&Argument| {
        let mut words = argument.value.split_whitespace();
        let is_command = words.next().is_some_and(is_program) && !is_statement(&argument.value);
        is_command && (is_only || is_shell && words.next().is_some())
    };
    let found = texts().find(names).or_else(|| texts().find(begins));
    let found = found.or_else(|| texts().find(|argument| argument.key.is_empty()))?;
    // a list of words, or a program with a list of its words
    let is_program = !found.listed && !found.value.contains(char::is_whitespace);
    let is_part = |part: &&Argument| part.listed && (is_program || part.key == found.key);
    let program = Some(found.value.as_str()).filter(|_| is_program);
    let parts: Vec<&str> =
        program.into_iter().chain(texts().filter(is_part).map(|part| part.value.as_str())).collect();
    match parts[..] {
        [_] if is_program => Some(found.value.clone()),
        [] => Some(found.value.clone()),
        // a list of whole commands
        _ if parts.iter().all(|part| part.contains(' ')) => Some(parts.join("\n")),
        _ => Some(parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(" ")),
    }
}

fn quoted(word: &str) -> String {
    let is_plain =
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"\\;|&<>()$`#".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// What the commands of a script do, in order: of those that only read, the first, and only if there are no others.
pub(super) fn done(script: &str) -> Vec<Deed> {
    if edits_open_file(script) {
        let tool = script.split_whitespace().next().unwrap_or_default();
        return vec![Deed::of(tool, Vec::new(), Does::Changes)];
    }
    let mut all = Vec::new();
    of_script(script, 0, &mut all);
    let does = |deed: &Deed| deed.does != Does::Reads;
    match all.iter().any(does) {
        true => all.retain(does),
        false => {
            all.retain(|done| !signs::is("builtin", &done.tool));
            all.truncate(1);
        }
    }
    all
}

fn of_script(script: &str, depth: usize, all: &mut Vec<Deed>) {
    for command in commands(script) {
        if all.len() < MOST_COMMANDS {
            of_command(script, &command, depth, all);
        }
    }
}

fn of_command(script: &str, command: &Command, depth: usize, all: &mut Vec<Deed>) {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let skipped = launchers(&words);
    let words = &words[skipped..];
    if let [only] = words
        && only.contains(char::is_whitespace)
        && depth < MOST_DEEP
    {
        return of_script(only, depth + 1, all);
    }
    let (start, end) = (command.places.get(skipped), command.places.last());
    let text = start.zip(end).map_or("", |(start, end)| &script[start.start..end.end]);
    let text = cut(text.lines().next().unwrap_or_default(), BYTES.0);
    all.push(judged(command, words, text));
}

fn judged(command: &Command, words: &[&str], text: String) -> Deed {
    let known = known(words);
    let objects = objects(words, known, &command.input);
    let mut deed = Deed::of(label(words, known), objects, known.does);
    if deed.runs() {
        deed.check = Some(text);
        return deed;
    }
    let patches: Vec<Box<str>> =
        [command.input.as_str()].iter().chain(words).flat_map(|text| patched(text)).collect();
    let written = command.writes.as_ref().filter(|_| known.does == Does::Reads);
    if !patches.is_empty() {
        (deed.objects, deed.does) = (patches, Does::Changes);
    } else if let Some((file, appends)) = written {
        deed.tool = format!("{} {}", deed.tool, if *appends { ">>" } else { ">" }).trim_start().to_owned();
        (deed.objects, deed.does) = (vec![cut(file, BYTES.1).into()], Does::Changes);
    }
    deed
}

/// How many words are assignments and launchers: `sudo`, `env A=1`, `timeout 5`, `python -m`, `find … -exec`.
fn launchers(words: &[&str]) -> usize {
    let mut at = words.iter().take_while(|word| is_assignment(word)).count();
    for _ in 0..MOST_LAUNCHERS {
        let known = known(&words[at..]);
        if known.does != Does::Launches {
            break;
        }
        let behind = at + known.at + 1;
        let rest = words.get(behind..).unwrap_or_default();
        let plain = |word: &&str| !word.starts_with('-') && !is_assignment(word);
        // the host, the container or the seconds come before the program
        let program = rest.iter().position(|word| plain(word) && (is_program(word) || word.contains(' ')));
        let named = || rest.iter().position(|word| plain(word) && !word.starts_with(char::is_numeric));
        let Some(next) = program.or_else(named) else { break };
        at = behind + next;
    }
    at
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The program with its subcommand, or with the flag that says what it changes: `git commit`, `sed -i`.
fn label(words: &[&str], known: Known) -> String {
    let Some(program) = words.first() else { return String::new() };
    let telling = words.get(1..=known.at).unwrap_or_default();
    let flag = telling.last().filter(|word| word.starts_with('-'));
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains(['/', ' ', '=']);
    let parts = match flag {
        Some(flag) if known.does == Does::Changes => vec![*flag],
        Some(_) => Vec::new(),
        None => telling.iter().copied().filter(is_name).collect(),
    };
    cut(&parts.iter().fold(base(program).to_owned(), |label, word| label + " " + word), LABEL_BYTES)
}

/// What a command works on: the files among its words, and else the first plain words behind the subcommand.
fn objects(words: &[&str], known: Known, input: &str) -> Vec<Box<str>> {
    if words.is_empty() {
        return Vec::new();
    }
    let flags_tell = words.get(known.at).is_some_and(|word| word.starts_with('-'));
    let rest = words.get(if flags_tell { 1 } else { known.at + 1 }..).unwrap_or_default();
    let changes = known.does == Does::Changes;
    if let Some(title) = message(rest, input).filter(|_| words.get(known.at) == Some(&"commit")) {
        return vec![cut(title, BYTES.1).into()];
    }
    let is_plain = |word: &&str| !word.starts_with(['-', '$']) && !word.is_empty();
    // of an editor's words, the first is its script
    let scripts = usize::from(matches!(base(words[0]), "sed" | "perl" | "awk" | "gawk"));
    let plain: Vec<&str> = rest.iter().copied().filter(is_plain).skip(scripts).collect();
    let files = plain.iter().copied().filter(|word| matches!(shape(word), Shape::Path | Shape::Url));
    let all = changes && known.at == 0;
    let chosen: Vec<&str> = if all { plain.clone() } else { files.collect() };
    let told = if chosen.is_empty() && changes { &plain[..plain.len().min(4)] } else { &chosen[..] };
    told.iter().take(MOST_OBJECTS).map(|word| cut(word, BYTES.1).into()).collect()
}

/// The first line of a commit's message, also of one from a here-document.
fn message<'w>(words: &[&'w str], input: &'w str) -> Option<&'w str> {
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
    let text = match words.iter().position(|word| is_short(word) || *word == "--message") {
        Some(at) => *words.get(at + 1)?,
        None => words.iter().find_map(|word| word.strip_prefix("--message=")).unwrap_or(input),
    };
    let is_document = text.starts_with("$(") && text.contains("<<");
    text.lines().skip(usize::from(is_document)).map(str::trim).find(|line| !line.is_empty())
}

/// What a statement among the arguments does, for a tool that runs statements: the first word of SQL, or a request's
/// method.
pub(super) fn stated(tool: &str, arguments: &[Argument]) -> Option<Does> {
    let weak = named(tool).is_none_or(|verb| verb.weak);
    arguments.iter().filter(|argument| argument.is_text && argument.depth <= 1).find_map(|argument| {
        let value = argument.value.trim();
        let first =
            value.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default();
        let is_method = matches!(value, "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE");
        let is_action =
            weak && (names_action(&argument.key) && first.len() == value.len() || is_statement(value));
        match first {
            _ if !is_method && !is_action => None,
            "GET" | "HEAD" | "OPTIONS" => Some(Does::Reads),
            "POST" | "PUT" | "PATCH" if is_method => Some(Does::Changes),
            _ => of_words(&words(first)).map(|verb| verb.does),
        }
    })
}

/// Whether an argument says which of a tool's actions is meant.
fn names_action(key: &str) -> bool {
    const KEYS: [&str; 9] =
        ["command", "action", "operation", "op", "method", "subcommand", "tool", "function", "verb"];
    words(key).iter().any(|word| KEYS.contains(&word.as_str()))
}
