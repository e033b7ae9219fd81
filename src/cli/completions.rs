//! `utterd completions`: what a shell completes.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::{errors::CliError, output::Output};

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd completions bash > ~/.local/share/bash-completion/completions/utterd
  utterd completions zsh > ~/.zfunc/_utterd
  utterd completions fish > ~/.config/fish/completions/utterd.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the completions of `program`.
pub fn completions(args: Completions, mut program: Command) -> Result<(), CliError> {
    // Written apart first: a pipe that is closed is no panic then.
    let mut script = Vec::new();
    generate(args.shell, &mut program, "utterd", &mut script);
    let mut output = Output::new();
    output.write_all(&script)?;
    Ok(output.flush()?)
}
