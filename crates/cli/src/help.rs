//! The help: the commands in groups.

use clap::{Arg, Command};

/// The heading of the options with which a command reaches a server. Only `--help` shows them, `-h` does not.
pub const CONNECTION: &str = "Connection";
/// The heading of the options that set what a server runs with. Only `--help` shows them, too.
pub const SETTINGS: &str = "Settings";

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

/// The program with its help in order.
pub fn arranged(program: Command) -> Command {
    let usage = "{about}\n\n{usage-heading} {name} COMMAND [OPTIONS]\n";
    let template = format!("{usage}{}{{after-help}}", listed(&program).trim_end());
    let program = program.mut_args(|argument| argument.hide(true)).help_template(template);
    program.mut_subcommands(|command| command.mut_args(with_default))
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

/// Shows the default of an argument, unless it is empty.
fn with_default(argument: Arg) -> Arg {
    match argument.get_default_values() {
        [value] if value.is_empty() => argument.hide_default_value(true),
        _ => argument,
    }
}
