//! `utterd reindex`: has the search index of a store made again.

use clap::Args;

use super::{database::DatabaseOptions, meter::Meter};
use crate::cli::{
    errors::CliError,
    terminal::{output::Output, text::counted},
};
use crate::config::Place;
use crate::server::upkeep::{self, Reindexed};

/// Remove the search index of a store, so that it is made again
///
/// A store keeps an index of conversations that were searched. This removes all of it, or the part for the given
/// conversations, and the next search makes it again from what is stored.
///
/// In a database, unless conversations are given, this also sets columns right that do not agree with their records, as
/// `verify` reports them. Servers may use a database meanwhile, but not files.
///
/// Utterances are not touched.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd reindex fjall:utterd-data
  utterd reindex fjall:utterd-data --recipient alice
  utterd reindex postgres://utterd@db1/utterd")]
pub struct ReindexStore {
    /// fjall:DIR, sled:DIR, the URL of a database, or postgres for the database that the settings name
    #[arg(value_name = "PLACE")]
    pub store: Place,
    /// Only this recipient's conversations
    #[arg(long, short, value_name = "ID", conflicts_with = "conversation")]
    pub recipient: Option<String>,
    /// Only this conversation
    #[arg(long, short, value_name = "ID")]
    pub conversation: Option<String>,
    /// The namespace of the recipient or conversation
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    #[command(flatten)]
    pub database: DatabaseOptions,
}

/// Removes the index, and prints what was done.
pub fn reindex(args: ReindexStore) -> Result<(), CliError> {
    let ReindexStore { store, namespace, recipient, conversation, database } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let meter = Meter::new();
    meter.at(|| format!("reindexing {store}"));
    let done = upkeep::reindex(&store, &database.settings(&[&store])?, &scope)?;
    let took = meter.end();
    let mut output = Output::new();
    output.line(&format!("reindexed {store}: {}, in {took}", all(done)))?;
    Ok(output.flush()?)
}

fn all(Reindexed { conversations, removed, mended }: Reindexed) -> String {
    let mended = match mended {
        0 => String::new(),
        mended => format!(", {} set right", counted(mended, "row")),
    };
    format!("{}, {} removed{mended}", counted(conversations, "conversation"), counted(removed, "block"))
}
