//! The command line: the server, and commands that talk to a running one.
//!
//! Results go to stdout, everything else to stderr. `errors` defines the exit codes. Each command has its own file,
//! with its arguments and its help; `commands` lists them, `args` has the arguments that several share.

mod access;
mod args;
mod call;
mod chat;
mod client;
mod commands;
mod completions;
mod conversations;
mod demo;
mod errors;
mod health;
mod help;
#[cfg_attr(not(feature = "mcp"), path = "no_mcp.rs")]
mod mcp;
mod messages;
mod misuse;
mod refusal;
mod serve;
mod settings;
mod stores;
mod terminal;
mod token;
mod trust;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, FromArgMatches};

use commands::Cli;

/// Runs the command line `arguments`; the first one is the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let as_json = asks_for_json(&arguments);
    let matches = help::arranged(Cli::command()).try_get_matches_from_mut(&arguments);
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => errors::exit(cli.run(), as_json),
        // the help and the version end up here too
        Err(error) => misuse::misused(&error, &arguments, as_json),
    }
}

/// Whether errors should be JSON, even if the command line cannot be parsed.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}
