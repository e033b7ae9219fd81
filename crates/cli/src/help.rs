//! The help: the commands in groups, and each command's own options before those that many share.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The heading of the options with which a command reaches a server. `--help-connection` shows them.
pub const CONNECTION: &str = "Connection";
/// The heading of the options that set what a server runs with. `serve --help` shows them.
pub const SETTINGS: &str = "Settings";
/// The command whose help shows the settings.
const SERVE: &str = "serve";
/// The flag that shows the options of the connection.
const HELP_CONNECTION: &str = "help-connection";
/// Where that flag stands: last of a command's options, before `--help`.
const LAST: usize = 990;

/// The commands, by what they are for.
pub const GROUPS: [(&str, &[&str]); 10] = [
    ("Try it and talk", &["demo", "chat"]),
    ("Store and read", &["memorize", "list", "show", "remember"]),
    ("Build a prompt", &["context", "prepare", "summarize"]),
    ("Watch the budget", &["capacity", "compact", "watch"]),
    ("Forget", &["forget", "restore", "delete"]),
    ("Manage conversations", &["end", "import", "export"]),
    ("Call any method", &["call"]),
    ("Run a server", &["serve", "mcp", "health", "config", "token", "backup"]),
    ("Look after its store", &["migrate", "verify", "scrub"]),
    ("Complete commands in a shell", &["completions"]),
];

/// The program's command line with its help in order. `arguments` decide whether a command's help shows the
/// connection.
pub fn arranged(program: Command, arguments: &[OsString]) -> Command {
    let asks = |it: &OsString| it.to_str().and_then(|it| it.strip_prefix("--")) == Some(HELP_CONNECTION);
    let shown = if arguments.iter().any(asks) { CONNECTION } else { "" };
    let usage = "{about}\n\n{usage-heading} {name} COMMAND [OPTIONS]\n";
    let template = format!("{usage}{}{{after-help}}", listed(&program).trim_end());
    program
        .mut_args(|argument| argument.hide(true))
        .mut_subcommands(|command| arranged_command(command, shown))
        .help_template(template)
}

/// The groups with their commands, a line each.
fn listed(program: &Command) -> String {
    let about = |name: &str| program.find_subcommand(name).and_then(Command::get_about);
    let line = |name: &&str| format!("  {name:<17} {}\n", about(name).cloned().unwrap_or_default());
    let group = |(title, names): &(&str, &[&str])| {
        format!("\n{title}:\n{}", names.iter().map(line).collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

fn arranged_command(command: Command, shown: &str) -> Command {
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let serves = command.get_name() == SERVE;
    let connects = has(&command, CONNECTION);
    let command = command
        .about(about)
        .long_about(None::<&str>)
        .mut_args(|argument| with_values(with_default(hidden_unless_asked(argument, shown, serves))))
        .mut_subcommands(|command| arranged_command(command, shown));
    match (connects, shown) {
        (false, _) => command,
        (true, CONNECTION) => command.arg(help_connection().hide(true)).help_template("{options}"),
        (true, _) => command.arg(help_connection()),
    }
}

fn has(command: &Command, heading: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_help_heading() == Some(heading))
}

fn help_connection() -> Arg {
    Arg::new(HELP_CONNECTION)
        .long(HELP_CONNECTION)
        .action(ArgAction::HelpShort)
        .display_order(LAST)
        .help("Show the options of the connection: --server, --token-file, TLS")
}

/// Options of the connection are shown alone, when they are asked for; settings in the help of `serve`.
fn hidden_unless_asked(argument: Arg, shown: &str, serves: bool) -> Arg {
    let hide = match argument.get_help_heading() {
        Some(CONNECTION) => shown != CONNECTION,
        Some(SETTINGS) => !serves,
        _ => shown == CONNECTION || argument.is_hide_set(),
    };
    argument.hide(hide)
}

/// Shows the default of an argument, unless it is empty.
fn with_default(argument: Arg) -> Arg {
    match argument.get_default_values() {
        [value] if value.is_empty() => argument.hide_default_value(true),
        _ => argument,
    }
}

/// Puts the accepted values and what they mean into the help of an argument, on the same lines.
fn with_values(argument: Arg) -> Arg {
    if argument.is_hide_possible_values_set() {
        return argument;
    }
    let values = argument.get_possible_values();
    let told = |value: &clap::builder::PossibleValue| match value.get_help() {
        Some(help) => format!("{} ({help})", value.get_name()),
        None => value.get_name().to_owned(),
    };
    let told: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).map(told).collect();
    let is_explained = values.iter().any(|value| value.get_help().is_some());
    match (is_explained, argument.get_help().cloned()) {
        (true, Some(help)) => {
            let help = help.to_string();
            let default = help.find(" [default").unwrap_or(help.len());
            let (help, default) = help.split_at(default);
            argument.help(format!("{help}: {}{default}", told.join(", "))).hide_possible_values(true)
        }
        _ => argument,
    }
}
