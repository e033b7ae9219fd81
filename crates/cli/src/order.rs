//! The order of the words on the command line.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Moves options that stand before the command behind it, if all of them are the command's: `utterd --json show` means
/// `utterd show --json`.
pub fn options_last(program: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let places = 2..arguments.len();
    let found = places.into_iter().find_map(|first| {
        let command = program.find_subcommand(&arguments[first])?;
        let (command, end) = innermost(command, &arguments, first + 1);
        are_options(command, &arguments[1..first]).then_some((first, end))
    });
    let Some((first, end)) = found else { return arguments };
    [&arguments[..1], &arguments[first..end], &arguments[1..first], &arguments[end..]].concat()
}

/// The command that the words from `next` on select within `command`, and where they end: `token new`.
fn innermost<'a>(command: &'a Command, arguments: &[OsString], next: usize) -> (&'a Command, usize) {
    match arguments.get(next).and_then(|name| command.find_subcommand(name)) {
        Some(inner) => innermost(inner, arguments, next + 1),
        None => (command, next),
    }
}

/// Whether the words are options of `command`, each with its value.
fn are_options(command: &Command, words: &[OsString]) -> bool {
    let mut words = words.iter().map(|word| word.to_str());
    while let Some(word) = words.next() {
        let Some(word) = word else { return false };
        let (name, has_value) = (word.split('=').next().unwrap_or(word), word.contains('='));
        match command.get_arguments().find(|option| is_called(option, name)) {
            Some(option) if takes_value(option) && !has_value && words.next().is_none() => return false,
            Some(_) => {}
            None => return false,
        }
    }
    true
}

fn is_called(option: &Arg, name: &str) -> bool {
    match (name.strip_prefix("--"), name.strip_prefix('-')) {
        (Some(long), _) => option.get_long() == Some(long),
        (None, Some(short)) => option.get_short().is_some_and(|it| short.chars().eq([it])),
        (None, None) => false,
    }
}

/// Whether the option must have a value.
fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values() && option.get_num_args().is_none_or(|range| range.min_values() > 0)
}

#[cfg(test)]
mod tests {
    use clap::ArgAction;

    use super::*;

    fn program() -> Command {
        let options = |command: Command| {
            command
                .arg(Arg::new("server").long("server").short('s'))
                .arg(Arg::new("json").long("json").action(ArgAction::SetTrue))
        };
        let token = Command::new("token").subcommand(options(Command::new("new")));
        Command::new("utterd").subcommands([options(Command::new("show")), token])
    }

    #[test]
    fn options_may_stand_before_their_command() {
        let ordered = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            options_last(&program(), words).join(" ".as_ref()).into_string().unwrap()
        };
        for (given, expected) in [
            ("u --server x show trip", "u show --server x trip"),
            ("u --json --server=x show trip", "u show --json --server=x trip"),
            ("u -s show show", "u show -s show"),
            ("u --json token new --server x", "u token new --json --server x"),
            ("u show --json", "u show --json"),
            ("u --listen x show", "u --listen x show"),
            ("u --server show", "u --server show"),
            ("u --json", "u --json"),
        ] {
            assert_eq!(ordered(given), expected);
        }
    }
}
