//! What is typed behind a slash.

use super::event::Task;

/// What a command does.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Something that the server is asked for.
    Do(Task),
    /// Ask the model again.
    Retry,
    /// Tell the commands.
    Help,
    /// Leave.
    Quit,
}

/// The names of all commands.
const NAMES: [&str; 12] = [
    "compact",
    "summarize",
    "compress",
    "export",
    "forget",
    "remember",
    "capacity",
    "summary",
    "retry",
    "new",
    "help",
    "quit",
];

/// What `/help` tells.
pub const HELP: &str = "\
/compact [N]                   fold all but the last N messages (15) into the summary
/compact --preview [N]         tell what that would do
/compact undo                  take the last compaction back
/export [FILE]                 write summary and window as OpenAI messages
/export --include-full-history [FILE]   with what left the window
/forget [--hard] INSTRUCTION   such as last:2, about:Paris, the last three messages
/remember PROMPT               find what was said
/capacity  /summary            how full the window is; what is told of what left it
/retry                         ask the model again
/new                           end this conversation and start another
/help  /quit                   this; leave, as Ctrl-C does, and Ctrl-D on an empty line
Enter says it, Alt-Enter starts a line, Esc stops a reply, PgUp and PgDn scroll.
A message that begins with a slash: put a space before it.";

/// Reads a line that begins with a slash. What cannot be understood is an error that says what can.
pub fn parse(line: &str) -> Result<Command, String> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match name {
        "compact" | "summarize" | "compress" => compact(rest).map(Command::Do),
        "export" => Ok(Command::Do(export(rest))),
        "forget" => forget(rest).map(Command::Do),
        "remember" if rest.is_empty() => Err("/remember needs what to look for".into()),
        "remember" => Ok(Command::Do(Task::Remember(rest.to_owned()))),
        "capacity" => alone(name, rest, Command::Do(Task::Capacity)),
        "summary" => alone(name, rest, Command::Do(Task::Summary)),
        "retry" => alone(name, rest, Command::Retry),
        "new" => alone(name, rest, Command::Do(Task::Start)),
        "help" => alone(name, rest, Command::Help),
        "quit" => alone(name, rest, Command::Quit),
        unknown => Err(format!("there is no command /{unknown}; the nearest is /{}", nearest(unknown))),
    }
}

fn compact(rest: &str) -> Result<Task, String> {
    let (mut keep, mut preview) = (None, false);
    let words: Vec<_> = rest.split_whitespace().collect();
    if words == ["undo"] {
        return Ok(Task::Undo);
    }
    for word in words {
        match (word, word.parse()) {
            ("--preview", _) => preview = true,
            (_, Ok(number)) if keep.is_none() => keep = Some(number),
            _ => {
                return Err(format!(
                    "/compact takes how many messages stay, --preview, or undo alone; not {word:?}"
                ));
            }
        }
    }
    Ok(Task::Compact { keep, preview })
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

/// What stands behind `name`, when the text begins with that word.
fn flag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

fn alone(name: &str, rest: &str, command: Command) -> Result<Command, String> {
    if rest.is_empty() { Ok(command) } else { Err(format!("/{name} takes nothing behind it")) }
}

fn nearest(word: &str) -> &'static str {
    let likeness = |name: &&&str| strsim::normalized_damerau_levenshtein(word, name);
    NAMES.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or(&"help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_has_three_names_and_three_forms() {
        let compact = |keep, preview| Ok(Command::Do(Task::Compact { keep, preview }));
        assert_eq!(parse("/compact"), compact(None, false));
        assert_eq!(parse("/summarize 20"), compact(Some(20), false));
        assert_eq!(parse("/compress --preview 20"), compact(Some(20), true));
        assert_eq!(parse("/compact 20 --preview"), compact(Some(20), true));
        assert_eq!(parse("/compact undo"), Ok(Command::Do(Task::Undo)));
        for wrong in ["/compact many", "/compact undo 3", "/compact 3 4"] {
            assert!(parse(wrong).unwrap_err().starts_with("/compact takes how many"), "{wrong}");
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
        assert_eq!(parse("/compat").unwrap_err(), "there is no command /compat; the nearest is /compact");
        assert_eq!(parse("/exprot x").unwrap_err(), "there is no command /exprot; the nearest is /export");
        assert!(parse("/retry now").is_err() && parse("/remember").is_err() && parse("/").is_err());
    }

    #[test]
    fn help_tells_every_command() {
        let aliases = ["summarize", "compress"];
        for name in NAMES.iter().filter(|name| !aliases.contains(name)) {
            assert!(HELP.contains(&format!("/{name}")), "{name}");
        }
    }
}
