//! `utterd scrub`: rewrites the files of a durable store without what was forgotten for good.

use clap::Args;

use tokio::time::Instant;

use crate::{
    errors::CliError,
    terminal::{bytes, note, print, seconds},
};
use utterd_config::Files;
use utterd_server::upkeep::{self, Scrubbed};

/// Remove the text forgotten for good from a store's files
///
/// Rewrites the files of a store that no server uses. A running server does this at every scrub_interval.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd scrub fjall:utterd-data")]
pub struct ScrubStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Files,
}

/// Rewrites the files, and prints their size before and after.
pub fn scrub(args: ScrubStore) -> Result<(), CliError> {
    let store = args.store;
    let began = Instant::now();
    note(&format!("rewriting {store}"));
    let Scrubbed { before, after } = upkeep::scrub(&store)?;
    let took = seconds(began);
    Ok(print(&format!("scrubbed {store}: {} before, {} after, in {took}", bytes(before), bytes(after)))?)
}
