//! The command line: the server, and commands that talk to a running one.
//!
//! Results go to stdout, everything else to stderr. `errors` defines the exit codes. Each command has its own file,
//! with its arguments and its help; `commands` lists them, `args` has the arguments that several share.

mod access;
mod args;
mod backup;
mod bar;
mod capacity;
mod chat;
mod client;
mod commands;
mod compact;
mod completions;
mod context;
mod copy;
mod count;
mod database;
mod delete_recipient;
mod demo;
mod edit;
mod elements;
mod end;
mod errors;
mod export;
mod forget;
mod fork;
mod health;
mod import;
mod interrupt;
mod json;
mod list;
mod mcp;
mod memorize;
mod meter;
mod migrate;
mod misuse;
mod output;
mod pager;
mod parts;
mod pin;
mod policy;
mod prepare;
mod read;
mod refusal;
mod reindex;
mod remember;
mod restore;
mod scrub;
mod serve;
mod settings;
mod share;
mod show;
mod stats;
mod stored;
mod summarize;
mod table;
mod text;
mod token;
mod trust;
mod verify;
mod watch;
mod which;
mod words;
mod wrap;

use std::{ffi::OsString, process::ExitCode};

use clap::FromArgMatches;

use commands::Cli;
use words::Words;

/// Runs the command line `arguments`; the first one is the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let as_json = asks_for_json(&arguments);
    let mut command = Cli::program();
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
