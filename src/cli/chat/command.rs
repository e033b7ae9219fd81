//! Commands, which are typed after a slash.

use super::event::Task;

/// What a command does.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask something of the server.
    Do(Task),
    /// Ask the model again.
    Retry,
    /// Store a reply that was broken off.
    Keep,
    /// List the commands.
    Help,
    /// Leave.
    Quit,
}

/// The usage of each command, and what it does. Placeholders are in capitals or brackets.
const USAGES: [(&str, &str); 16] = [
    ("/compact [N]", "fold all but the last 15, or N, into the summary"),
    ("/compact --dry-run [N]", "show the summary that /compact would make"),
    ("/compact --undo", "undo the last compaction"),
    ("/summary", "show the summary"),
    ("/capacity", "show how full the window is"),
    ("/remember WORDS", "search the messages"),
    ("/forget INSTRUCTION", "forget messages: last:2, about:Paris, the last three messages"),
    ("/forget --hard INSTRUCTION", "forget messages for good"),
    ("/restore [NUMBER]", "bring back the last forgotten messages, or one"),
    ("/export [FILE]", "write the summary and the messages as OpenAI messages"),
    ("/export --include-full-history [FILE]", "write all messages, also those before the summary"),
    ("/retry", "ask the model again"),
    ("/keep", "store a reply that broke off"),
    ("/new", "end this conversation and start another"),
    ("/help", "show this help"),
    ("/quit", "leave the chat"),
];

/// What the keys do.
const KEYS: [(&str, &str); 4] = [
    ("Enter, Alt-Enter", "send the message; start a new line"),
    ("Up, Tab", "earlier messages; complete a command"),
    ("Esc, Ctrl-C", "stop a reply; Ctrl-C also clears the line, then leaves"),
    ("PgUp, PgDn, Ctrl-L", "scroll; redraw the screen"),
];

/// The text of `/help`: each line has what is typed, a tab, and what it does.
pub fn help() -> String {
    let lines = USAGES.iter().chain(&KEYS).map(|(typed, does)| format!("{typed}\t{does}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line is a command. A backslash before the slash makes it a message; two slashes do not begin a
/// command.
pub fn is_command(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('/') && !line.starts_with("//")
}

/// The message of a line that is not a command.
pub fn message(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix('\\').filter(|rest| rest.starts_with('/')).unwrap_or(line)
}

/// The usages that the typed text can still become, or the one that it already is.
pub fn matching(typed: &str) -> Vec<(&'static str, &'static str)> {
    let typed = typed.trim_start();
    let begun: Vec<_> = USAGES.into_iter().filter(|(usage, _)| fixed(usage).starts_with(typed)).collect();
    if !begun.is_empty() {
        return begun;
    }
    let written = |(usage, _): &(&str, &str)| {
        typed.strip_prefix(fixed(usage)).is_some_and(|rest| rest.starts_with(char::is_whitespace))
    };
    USAGES.into_iter().filter(written).max_by_key(|(usage, _)| fixed(usage).len()).into_iter().collect()
}

/// The typed text, completed as far as it is unambiguous.
pub fn completed(typed: &str) -> Option<String> {
    let begun = matching(typed);
    let (usage, _) = begun.first()?;
    let common = begun.iter().map(|(usage, _)| fixed(usage)).reduce(common_prefix)?;
    let takes_more = common.len() < usage.len() && begun.iter().any(|(usage, _)| fixed(usage) == common);
    let longer = format!("{common}{}", if takes_more { " " } else { "" });
    (longer.len() > typed.len() && longer.starts_with(typed)).then_some(longer)
}

/// The part of a usage that is typed literally.
fn fixed(usage: &str) -> &str {
    let end = usage.find(|it: char| it == '[' || it.is_ascii_uppercase()).unwrap_or(usage.len());
    usage.get(..end).unwrap_or(usage).trim_end()
}

fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.get(..same).unwrap_or(one)
}

/// Parses a line that begins with a slash. The error says what is accepted.
pub fn parse(line: &str) -> Result<Command, String> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match name {
        "compact" | "summarize" | "compress" => compact(rest).map(Command::Do),
        "export" => Ok(Command::Do(export(rest))),
        "forget" => forget(rest).map(Command::Do),
        "restore" => restore(rest).map(Command::Do),
        "remember" if rest.is_empty() => Err("/remember needs the words to look for".into()),
        "remember" => Ok(Command::Do(Task::Remember(rest.to_owned()))),
        "capacity" => alone(name, rest, Command::Do(Task::Capacity)),
        "summary" => alone(name, rest, Command::Do(Task::Summary)),
        "retry" => alone(name, rest, Command::Retry),
        "keep" => alone(name, rest, Command::Keep),
        "new" => alone(name, rest, Command::Do(Task::Start)),
        "help" => alone(name, rest, Command::Help),
        "quit" => alone(name, rest, Command::Quit),
        unknown => Err(no_command(unknown)),
    }
}

fn compact(rest: &str) -> Result<Task, String> {
    let (mut keep, mut dry_run) = (None, false);
    let words: Vec<_> = rest.split_whitespace().collect();
    if matches!(words.as_slice(), ["--undo" | "undo"]) {
        return Ok(Task::Undo);
    }
    for word in words {
        match (word, word.parse()) {
            ("--dry-run" | "--preview", _) => dry_run = true,
            (_, Ok(number)) if keep.is_none() => keep = Some(number),
            _ => {
                return Err(format!(
                    "/compact takes the number of messages to keep and --dry-run, or --undo alone; not {word:?}"
                ));
            }
        }
    }
    Ok(Task::Compact { keep, dry_run })
}

fn export(rest: &str) -> Task {
    let behind_flag = flag(rest, "--include-full-history");
    let file = behind_flag.unwrap_or(rest);
    Task::Export { full: behind_flag.is_some(), file: (!file.is_empty()).then(|| file.into()) }
}

fn forget(rest: &str) -> Result<Task, String> {
    let behind_flag = flag(rest, "--hard");
    match behind_flag.unwrap_or(rest) {
        "" => Err("/forget needs an instruction, such as last:2 or about:Paris".into()),
        instructions => {
            Ok(Task::Forget { instructions: instructions.to_owned(), hard: behind_flag.is_some() })
        }
    }
}

/// Parses sequences as `/forget` prints them: `1–3, 5`.
fn restore(rest: &str) -> Result<Task, String> {
    let numbers = rest.split([',', ' ']).filter(|word| !word.is_empty());
    let range = |word: &str| {
        let (first, last) = word.split_once(['-', '–']).unwrap_or((word, word));
        let range = first.parse().ok().zip(last.parse().ok()).map(|(first, last)| first..=last);
        range.ok_or_else(|| format!("/restore takes numbers of messages, such as 12 or 3-5; not {word:?}"))
    };
    numbers.map(range).collect::<Result<_, _>>().map(Task::Restore)
}

/// The text after `name`, if it begins with that word.
fn flag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

fn alone(name: &str, rest: &str, command: Command) -> Result<Command, String> {
    if rest.is_empty() { Ok(command) } else { Err(format!("/{name} takes no arguments")) }
}

/// The least similarity for a name to be suggested.
const LIKENESS: f64 = 0.5;

fn no_command(unknown: &str) -> String {
    let names = USAGES.iter().filter_map(|(usage, _)| fixed(usage).split(' ').next());
    let alike = names
        .map(|name| (strsim::normalized_damerau_levenshtein(unknown, name.trim_start_matches('/')), name));
    let nearest = alike.filter(|(likeness, _)| *likeness >= LIKENESS).max_by(|a, b| a.0.total_cmp(&b.0));
    let help = nearest.map_or("/help lists them".to_owned(), |(_, name)| format!("the nearest is {name}"));
    format!("there is no command /{unknown}; {help}. To say it, put a backslash before it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_has_three_names_and_three_forms() {
        let compact = |keep, dry_run| Ok(Command::Do(Task::Compact { keep, dry_run }));
        assert_eq!(parse("/compact"), compact(None, false));
        assert_eq!(parse("/summarize 20"), compact(Some(20), false));
        assert_eq!(parse("/compress --preview 20"), compact(Some(20), true));
        assert_eq!(parse("/compact 20 --dry-run"), compact(Some(20), true));
        assert_eq!(parse("/compact --undo"), Ok(Command::Do(Task::Undo)));
        assert_eq!(parse("/compact undo"), parse("/compact --undo"));
        for wrong in ["/compact many", "/compact --undo 3", "/compact 3 4"] {
            assert!(parse(wrong).unwrap_err().starts_with("/compact takes the number"), "{wrong}");
        }
    }

    #[test]
    fn flags_stand_before_what_they_are_for() {
        let export =
            |full, file: Option<&str>| Ok(Command::Do(Task::Export { full, file: file.map(Into::into) }));
        assert_eq!(parse("/export"), export(false, None));
        assert_eq!(parse("/export my chat.json"), export(false, Some("my chat.json")));
        assert_eq!(parse("/export --include-full-history"), export(true, None));
        assert_eq!(parse("/export --include-full-history all.json"), export(true, Some("all.json")));
        let forget = |instructions: &str, hard| {
            Ok(Command::Do(Task::Forget { instructions: instructions.into(), hard }))
        };
        assert_eq!(parse("/forget the last two"), forget("the last two", false));
        assert_eq!(parse("/forget --hard about:Paris"), forget("about:Paris", true));
        assert!(parse("/forget --hard").is_err());
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_nearest() {
        let nearest = |line, name| {
            let error = parse(line).unwrap_err();
            assert!(error.contains(&format!("; the nearest is {name}. To say it")), "{error}");
        };
        nearest("/compat", "/compact");
        nearest("/exprot x", "/export");
        assert!(parse("/etc/hosts").unwrap_err().contains("; /help lists them."));
        assert!(parse("/retry now").is_err() && parse("/remember").is_err() && parse("/").is_err());
    }

    #[test]
    fn only_a_backslash_or_a_second_slash_makes_a_message_of_a_command() {
        assert!(is_command("/compat") && is_command("  /compact"));
        assert!(!is_command("// a comment") && !is_command("\\/shrug") && !is_command("a /command"));
        assert_eq!(message(" \\/shrug "), "/shrug");
        assert_eq!(message("// a comment"), "// a comment");
        assert_eq!(message("\\o/"), "\\o/");
    }

    #[test]
    fn messages_are_restored_by_number() {
        let restored =
            |ranges: &[std::ops::RangeInclusive<i64>]| Ok(Command::Do(Task::Restore(ranges.to_vec())));
        assert_eq!(parse("/restore"), restored(&[]));
        assert_eq!(parse("/restore 12"), restored(&[12..=12]));
        assert_eq!(parse("/restore 1–3, 5 7-8"), restored(&[1..=3, 5..=5, 7..=8]));
        assert!(parse("/restore last:2").unwrap_err().contains("not \"last:2\""));
    }

    #[test]
    fn a_command_is_completed_as_far_as_there_is_one_way() {
        let completed = |typed| completed(typed).unwrap_or_default();
        assert_eq!(completed("/rest"), "/restore ");
        assert_eq!(completed("/re"), "");
        assert_eq!(completed("/compact"), "/compact ");
        assert_eq!(completed("/compact --d"), "/compact --dry-run ");
        assert_eq!(completed("/q"), "/quit");
        assert_eq!(completed("/export --i"), "/export --include-full-history ");
        assert_eq!(completed("/nothing"), "");
    }

    #[test]
    fn what_is_typed_matches_what_it_may_become_and_what_it_is() {
        let usages = |typed| matching(typed).into_iter().map(|(usage, _)| usage).collect::<Vec<_>>();
        assert_eq!(usages("/").len(), USAGES.len());
        assert_eq!(usages("/compact"), ["/compact [N]", "/compact --dry-run [N]", "/compact --undo"]);
        assert_eq!(usages("/compact 20"), ["/compact [N]"]);
        assert_eq!(usages("/forget --hard about:x"), ["/forget --hard INSTRUCTION"]);
        assert!(usages("/nothing").is_empty());
    }

    #[test]
    fn help_tells_every_command_and_each_is_one() {
        for (usage, _) in USAGES {
            assert!(help().contains(usage), "{usage}");
            let line = usage.replace(" [N]", " 3").replace(" [NUMBER]", " 3");
            assert!(parse(&line).is_ok(), "{line}");
        }
    }
}
