//! What the help of all commands has in common.

use clap::{Arg, Command};

/// The heading of the options with which a command reaches a server. Only `--help` shows them, `-h` does not.
pub const CONNECTION: &str = "Connection";
/// The heading of the options that set what a server runs with. Only `--help` shows them, too.
pub const SETTINGS: &str = "Settings";

/// The program without the options of `serve` in its own help, and without defaults that are empty.
pub fn arranged(program: Command) -> Command {
    let program = program.mut_args(|argument| argument.hide(true));
    program.mut_subcommands(|command| command.mut_args(with_default))
}

/// Shows the default of an argument, unless it is empty.
fn with_default(argument: Arg) -> Arg {
    match argument.get_default_values() {
        [value] if value.is_empty() => argument.hide_default_value(true),
        _ => argument,
    }
}
