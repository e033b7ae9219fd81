//! `utterd completions`: prints completions for a shell.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::{errors::CliError, terminal::Output};

/// Print the completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd completions bash > ~/.local/share/bash-completion/completions/utterd
  utterd completions zsh > ~/.zfunc/_utterd
  utterd completions fish > ~/.config/fish/completions/utterd.fish")]
pub struct Completions {
    /// The shell whose completions to print
    shell: Shell,
}

/// Prints the completion script for `program`.
pub fn completions(args: Completions, mut program: Command) -> Result<(), CliError> {
    // Into a buffer first: `generate` panics if it cannot write, for example to a closed pipe.
    let mut script = Vec::new();
    generate(args.shell, &mut program, "utterd", &mut script);
    let mut output = Output::new();
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(output.flush()?)
}
