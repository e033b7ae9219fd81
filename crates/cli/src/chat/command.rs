//! Commands, which are typed after a slash.

use clap::Parser;

use crate::errors::CliError;

/// What a line asks for.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
pub enum Command {
    #[command(aliases = ["summarize", "compress"])]
    Compact {
        keep_recent: Option<i32>,
        #[arg(long, alias = "preview")]
        dry_run: bool,
        #[arg(long, conflicts_with_all = ["keep_recent", "dry_run"])]
        undo: bool,
    },
    Summary,
    Capacity,
    Remember {
        #[arg(required = true)]
        words: Vec<String>,
    },
    Forget {
        #[arg(long)]
        hard: bool,
        #[arg(required = true)]
        instruction: Vec<String>,
    },
    Restore {
        /// All, if there are none.
        numbers: Vec<String>,
    },
    Export {
        #[arg(long)]
        include_full_history: bool,
        file: Vec<String>,
    },
    Retry,
    Keep,
    New,
    Help,
    Quit,
}

/// The usage of each command, and what it does. Placeholders are in capitals or brackets.
pub const HELP: &str = "\
/compact [keep_recent]  Summarize old messages, keeping N recent (default: 15)
                        also /summarize, /compress; with --dry-run, only show the summary
/compact --undo         undo the last compaction
/summary                show the summary
/capacity               show how full the window is
/remember WORDS         search the messages
/forget INSTRUCTION     forget messages: last:2, about:Paris, the last three messages; with --hard, for good
/restore [NUMBERS]      bring back what was forgotten, or these messages, such as 3,5-7
/export [FILE]          write the summary and the messages as OpenAI messages;
                        with --include-full-history, all messages, also those before the summary
/retry                  ask the model again
/keep                   store a reply that broke off
/new                    end this conversation and start another
/help                   show this help
/quit                   leave the chat, as Ctrl-D does; Ctrl-C stops a reply, or clears the line";

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

/// Parses a line that begins with a slash. The error says what is accepted.
pub fn parse(line: &str) -> Result<Command, CliError> {
    let words: Vec<_> = line.trim().trim_start_matches('/').split_whitespace().collect();
    let words = match words.as_slice() {
        [name, "undo"] => vec![*name, "--undo"],
        _ => words,
    };
    Command::try_parse_from(words).map_err(|error| {
        let told = error.to_string();
        let told = told.split("\n\nUsage:").next().unwrap_or_default().trim_start_matches("error: ");
        CliError::Usage(format!(
            "{told}\n/help lists the commands; a backslash before the slash makes it a message"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        parse(line).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn compacting_has_three_names_and_three_forms() {
        let compact = |line| match parse(line) {
            Ok(Command::Compact { keep_recent, dry_run, undo }) => (keep_recent, dry_run, undo),
            _ => panic!("{line}"),
        };
        assert_eq!(compact("/compact"), (None, false, false));
        assert_eq!(compact("/summarize 20"), (Some(20), false, false));
        assert_eq!(compact("/compress --preview 20"), (Some(20), true, false));
        assert_eq!(compact("/compact 20 --dry-run"), (Some(20), true, false));
        assert_eq!(compact("/compact --undo"), (None, false, true));
        assert_eq!(compact("/compact undo"), (None, false, true));
        assert!(refused("/compact many").starts_with("invalid value 'many' for '[KEEP_RECENT]'"));
        assert!(!refused("/compact --undo 3").is_empty() && !refused("/compact 3 4").is_empty());
    }

    #[test]
    fn what_is_no_command_is_refused_with_what_is_one() {
        assert!(refused("/etc/hosts").contains("'etc/hosts'\n") && refused("/etc").contains("/help lists"));
        assert!(refused("/sumary").contains("similar subcommands exist: 'summarize', 'summary'"));
        assert!(refused("/retry now").contains("'now'"));
        assert!(
            refused("/remember").contains("<WORDS>") && refused("/forget --hard").contains("<INSTRUCTION>")
        );
        assert!(refused("/").contains("/help"));
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
    fn help_tells_every_command_and_each_is_one() {
        let told: Vec<_> = HELP.lines().filter(|line| line.starts_with('/')).collect();
        for line in &told {
            let (usage, _) = line.split_once("  ").unwrap();
            let line = usage.replace(" [keep_recent]", " 3").replace(" [NUMBERS]", " 3,5-7");
            assert!(parse(&line).is_ok(), "{line}");
        }
        for name in
            <Command as clap::CommandFactory>::command().get_subcommands().map(clap::Command::get_name)
        {
            assert!(told.iter().any(|line| line.starts_with(&format!("/{name}"))), "{name}");
        }
    }
}
