//! The command line: the server, and commands that talk to a running one.
//!
//! Results go to stdout, everything else to stderr. The exit code is 0 when it worked, 1 when
//! something was refused or failed, 2 when the command line or the configuration is wrong.

mod access;
mod args;
mod backup;
mod bar;
mod capacity;
mod chat;
mod client;
mod compact;
mod context;
mod copy;
mod delete_recipient;
mod end;
mod errors;
mod export;
mod forget;
mod fork;
mod import;
mod json;
mod mcp;
mod memorize;
mod meter;
mod output;
mod reindex;
mod remember;
mod restore;
mod scrub;
mod serve;
mod settings;
mod share;
mod show;
mod stats;
mod summarize;
mod text;
mod token;
mod trust;
mod verify;
mod watch;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use args::{Cli, Command};
use errors::CliError;

/// Runs the command line `arguments`, of which the first is the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => errors::exit(dispatch(cli)),
        // Help and the version come this way too; a reader that went away is no failure.
        Err(error) => {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), CliError> {
    let Some(command) = cli.command else {
        return serve::serve(cli.serve);
    };
    match command {
        Command::Serve(args) => serve::serve(args),
        Command::Config(configuration) => serve::show_configuration(configuration),
        Command::Backup(args) => client::block_on(backup::backup(args)),
        Command::Restore(args) => restore::restore(args),
        Command::Copy(args) => copy::copy(args),
        Command::Verify(args) => verify::verify(args),
        Command::Scrub(args) => scrub::scrub(args),
        Command::Reindex(args) => reindex::reindex(args),
        Command::Token(command) => token::token(command),
        Command::Memorize(args) => client::block_on(memorize::memorize(args)),
        Command::Remember(args) => client::block_on(remember::remember(args)),
        Command::Forget(args) => client::block_on(forget::forget(args)),
        Command::Fork(args) => client::block_on(fork::fork(args)),
        Command::End(args) => client::block_on(end::end(args)),
        Command::Summarize(args) => client::block_on(summarize::summarize(args)),
        Command::Context(args) => client::block_on(context::context(args)),
        Command::Chat(args) => client::block_on(chat::chat(args)),
        Command::Mcp(args) => mcp::mcp(args),
        Command::Compact(args) => client::block_on(compact::compact(args)),
        Command::Capacity(args) => client::block_on(capacity::capacity(args)),
        Command::Stats(args) => client::block_on(stats::stats(args)),
        Command::Share(args) => client::block_on(share::share(args)),
        Command::DeleteRecipient(args) => client::block_on(delete_recipient::delete_recipient(args)),
        Command::Show(args) => client::block_on(show::show(args)),
        Command::Watch(args) => client::block_on(watch::watch(args)),
        Command::Import(args) => client::block_on(import::import(args)),
        Command::Export(args) => client::block_on(export::export(args)),
    }
}
