//! `utterd reindex`: has the search index of a store made again.

use clap::Args;

use super::{database::DatabaseOptions, meter::Meter};
use crate::cli::{
    errors::CliError,
    terminal::{output::Output, text::counted},
};
use crate::config::Place;
use crate::server::upkeep::{self, Reindexed};

/// Remove a store's search index, to be built again
///
/// The next search builds the index of a conversation again, from its utterances, which stay as they are.
///
/// In a database, without --recipient and --conversation, this also corrects columns that differ from their records, as
/// `verify` reports them. Servers may use a database meanwhile, but not files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd reindex fjall:utterd-data
  utterd reindex fjall:utterd-data --recipient alice
  utterd reindex postgres://utterd@db1/utterd")]
pub struct ReindexStore {
    /// fjall:DIR, sled:DIR, the URL of a database, or postgres for the database of the settings
    #[arg(value_name = "PLACE")]
    pub store: Place,
    /// Remove only the index of this recipient's conversations
    #[arg(long, short, value_name = "ID", conflicts_with = "conversation")]
    pub recipient: Option<String>,
    /// Remove only the index of this conversation
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
