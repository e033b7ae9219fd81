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
mod order;
mod refusal;
mod serve;
mod settings;
mod stores;
mod terminal;
mod token;
mod trust;
mod words;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, FromArgMatches};

use commands::Cli;
use words::Words;

/// Runs the command line `arguments`; the first one is the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let program = Cli::command();
    let arguments = order::options_last(&program, arguments.into_iter().collect());
    let as_json = asks_for_json(&arguments);
    let mut command = call::help::of_method_named(help::arranged(program, &arguments), &arguments);
    let parsed = command.try_get_matches_from_mut(&arguments);
    let parsed = parsed.and_then(|matches| {
        let words = Words::of(&command, &matches);
        Ok((Cli::from_arg_matches(&matches)?, words))
    });
    match parsed {
        Ok((cli, words)) => errors::exit(cli.run(), &words, as_json),
        // the help and the version end up here too
        Err(error) => misuse::misused(&error, &arguments, as_json),
    }
}

/// Whether errors should be JSON, even if the command line cannot be parsed.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}
