//! Commands, which are typed after a slash.

use std::path::PathBuf;

use console::Alignment;

use crate::{
    args::Target,
    errors::CliError,
    messages::{
        capacity::AskCapacity, compact::Compact, forget::Forget, remember::Remember, restore::Restore,
    },
    terminal::aligned,
};

/// What a line asks for. The commands that the command line has too come with their arguments there.
pub enum Command {
    Compact(Compact),
    Summary,
    Capacity(AskCapacity),
    Remember(Remember),
    Forget(Forget),
    Restore(Restore),
    /// Write the conversation to a file, with `full` also what left the window.
    Export {
        full: bool,
        file: Option<PathBuf>,
    },
    /// Ask the model again.
    Retry,
    /// Store a reply that is not stored.
    Keep,
    /// End the conversation and start another.
    New,
    Help,
    Quit,
}

/// The usage of each command, and what it does. Placeholders are in capitals or brackets.
const USAGES: [(&str, &str); 16] = [
    (
        "/compact [keep_recent]",
        "Summarize old messages, keeping N recent (default: 15); also /summarize, /compress",
    ),
    ("/compact --dry-run [keep_recent]", "show the summary that /compact would make"),
    ("/compact --undo", "undo the last compaction"),
    ("/summary", "show the summary"),
    ("/capacity", "show how full the window is"),
    ("/remember WORDS", "search the messages"),
    ("/forget INSTRUCTION", "forget messages: last:2, about:Paris, the last three messages"),
    ("/forget --hard INSTRUCTION", "forget messages for good"),
    ("/restore [NUMBERS]", "bring back what was forgotten, or these messages, such as 3,5-7"),
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
    ("Up, Ctrl-R, Tab", "earlier messages; search them; complete a command"),
    ("Ctrl-C", "stop a reply; clear the line, which Ctrl-Y brings back; leave"),
    ("Ctrl-D", "leave"),
];

/// Matches that `/remember` shows.
const MATCHES: i32 = 8;

/// The text of `/help`.
pub fn help() -> String {
    let rows: Vec<_> =
        USAGES.iter().chain(&KEYS).map(|(typed, does)| [*typed, *does].map(Into::into)).collect();
    aligned(&rows, [Alignment::Left; 2]).join("\n")
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

/// The usages that the typed text can become, each with the part of it that is typed as it stands.
pub fn completions(typed: &str) -> Vec<(&'static str, String)> {
    let begun = USAGES.iter().map(|(usage, _)| (*usage, fixed(usage)));
    let begun = begun.filter(|(_, fixed)| !typed.is_empty() && fixed.starts_with(typed));
    begun.map(|(usage, fixed)| (usage, format!("{fixed}{}", if fixed == usage { "" } else { " " }))).collect()
}

/// The rest of the first usage that begins with the typed text, and what it does.
pub fn hint(typed: &str) -> Option<String> {
    let (usage, does) = USAGES.iter().find(|(usage, _)| typed.len() > 1 && usage.starts_with(typed))?;
    usage.get(typed.len()..).map(|rest| format!("{rest}  {does}"))
}

/// The part of a usage that is typed literally.
fn fixed(usage: &str) -> &str {
    let end = usage.find(|it: char| it == '[' || it.is_ascii_uppercase()).unwrap_or(usage.len());
    usage.get(..end).unwrap_or(usage).trim_end()
}

/// Parses a line that begins with a slash, for the conversation of `target`. The error says what is accepted.
pub fn parse(line: &str, target: Target) -> Result<Command, CliError> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let alone = |command| match rest {
        "" => Ok(command),
        _ => wrong(format!("/{name} takes no arguments")),
    };
    match name {
        "compact" | "summarize" | "compress" => compact(rest, target),
        "forget" => forget(rest, target),
        "remember" if rest.is_empty() => wrong("/remember needs the words to look for"),
        "remember" => Ok(Command::Remember(remember(rest, target))),
        "restore" => Ok(Command::Restore(restore(rest, target))),
        "export" => Ok(export(rest)),
        "summary" => alone(Command::Summary),
        "capacity" => alone(Command::Capacity(AskCapacity { target, watch: false })),
        "retry" => alone(Command::Retry),
        "keep" => alone(Command::Keep),
        "new" => alone(Command::New),
        "help" => alone(Command::Help),
        "quit" => alone(Command::Quit),
        unknown => wrong(format!(
            "there is no command /{unknown}; /help lists them. To say it, put a backslash before it"
        )),
    }
}

fn wrong(text: impl Into<String>) -> Result<Command, CliError> {
    Err(CliError::Usage(text.into()))
}

fn compact(rest: &str, target: Target) -> Result<Command, CliError> {
    let mut compact = Compact { target, ..Compact::default() };
    if matches!(rest, "--undo" | "undo") {
        compact.undo = true;
        return Ok(Command::Compact(compact));
    }
    for word in rest.split_whitespace() {
        match (word, word.parse()) {
            ("--dry-run" | "--preview", _) => compact.dry_run = true,
            (_, Ok(number)) if compact.keep.is_none() => compact.keep = Some(number),
            _ => {
                return wrong(format!(
                    "/compact takes the number of messages to keep and --dry-run, or --undo alone; not {word:?}"
                ));
            }
        }
    }
    Ok(Command::Compact(compact))
}

fn forget(rest: &str, target: Target) -> Result<Command, CliError> {
    let behind_flag = flag(rest, "--hard");
    match behind_flag.unwrap_or(rest) {
        "" => wrong("/forget needs an instruction, such as last:2 or about:Paris"),
        instructions => Ok(Command::Forget(Forget {
            target,
            hard: behind_flag.is_some(),
            instructions: Some(instructions.to_owned()),
            ..Forget::default()
        })),
    }
}

fn remember(rest: &str, target: Target) -> Remember {
    Remember { target, limit: MATCHES, prompt: Some(rest.to_owned()), ..Remember::default() }
}

/// Brings back these utterances, or all that are forgotten.
fn restore(rest: &str, target: Target) -> Restore {
    let which = Some(rest.to_owned()).filter(|which| !which.is_empty());
    Restore { target, all: which.is_none(), which, ..Restore::default() }
}

fn export(rest: &str) -> Command {
    let behind_flag = flag(rest, "--include-full-history");
    let file = behind_flag.unwrap_or(rest);
    Command::Export { full: behind_flag.is_some(), file: (!file.is_empty()).then(|| file.into()) }
}

/// The text after `name`, if it begins with that word.
fn flag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{access::Access, args::Remote};

    fn parsed(line: &str) -> Result<Command, CliError> {
        let remote = Remote { server: String::new(), access: Access::default() };
        parse(line, Target::of(remote, "trip".into()))
    }

    fn refused(line: &str) -> String {
        parsed(line).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn compacting_has_three_names_and_three_forms() {
        let compact = |line| match parsed(line) {
            Ok(Command::Compact(compact)) => (compact.keep, compact.dry_run, compact.undo),
            _ => panic!("{line}"),
        };
        assert_eq!(compact("/compact"), (None, false, false));
        assert_eq!(compact("/summarize 20"), (Some(20), false, false));
        assert_eq!(compact("/compress --preview 20"), (Some(20), true, false));
        assert_eq!(compact("/compact 20 --dry-run"), (Some(20), true, false));
        assert_eq!(compact("/compact --undo"), (None, false, true));
        assert_eq!(compact("/compact undo"), (None, false, true));
        for wrong in ["/compact many", "/compact --undo 3", "/compact 3 4"] {
            assert!(refused(wrong).starts_with("/compact takes the number"), "{wrong}");
        }
    }

    #[test]
    fn flags_stand_before_what_they_are_for() {
        let export = |line| match parsed(line) {
            Ok(Command::Export { full, file }) => (full, file),
            _ => panic!("{line}"),
        };
        assert_eq!(export("/export"), (false, None));
        assert_eq!(export("/export my chat.json"), (false, Some("my chat.json".into())));
        assert_eq!(export("/export --include-full-history a.json"), (true, Some("a.json".into())));
        let forget = |line| match parsed(line) {
            Ok(Command::Forget(forget)) => (forget.instructions.unwrap_or_default(), forget.hard),
            _ => panic!("{line}"),
        };
        assert_eq!(forget("/forget the last two"), ("the last two".into(), false));
        assert_eq!(forget("/forget --hard about:Paris"), ("about:Paris".into(), true));
        assert!(refused("/forget --hard").contains("last:2"));
    }

    #[test]
    fn what_is_no_command_is_refused_with_what_is_one() {
        assert!(refused("/etc/hosts").contains("no command /etc/hosts; /help lists them. To say it"));
        assert_eq!(refused("/retry now"), "/retry takes no arguments");
        assert!(refused("/remember").contains("words to look for") && refused("/").contains("/help"));
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
    fn a_command_is_completed_and_hinted_at() {
        let completed =
            |typed| completions(typed).into_iter().map(|(_, replacement)| replacement).collect::<Vec<_>>();
        assert_eq!(completed("/rest"), ["/restore "]);
        assert_eq!(completed("/re"), ["/remember ", "/restore ", "/retry"]);
        assert_eq!(completed("/compact --d"), ["/compact --dry-run "]);
        assert!(completed("hello").is_empty() && completed("").is_empty());
        assert_eq!(hint("/rem").as_deref(), Some("ember WORDS  search the messages"));
        assert_eq!(hint("/quit").as_deref(), Some("  leave the chat"));
        assert_eq!((hint("/"), hint("/remember it")), (None, None));
    }

    #[test]
    fn help_tells_every_command_and_each_is_one() {
        for (usage, _) in USAGES {
            assert!(help().contains(usage), "{usage}");
            let line = usage.replace(" [keep_recent]", " 3").replace(" [NUMBERS]", " 3,5-7");
            assert!(parsed(&line).is_ok(), "{line}");
        }
    }
}
