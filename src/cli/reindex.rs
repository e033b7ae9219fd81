//! `utterd reindex`: rebuilds the search index of a store.

use clap::Args;

use super::{database::DatabaseOptions, errors::CliError, meter::Meter, output::Output, text::counted};
use crate::config::Place;
use crate::server::upkeep::{self, Reindexed, Reset};

/// Rebuild the search index of a store
///
/// A store keeps an index of conversations that were searched. In files, this rebuilds it from what is stored: all of
/// it, or the part for the given conversations. What cannot be rebuilt is removed. No server may be using the files.
///
/// In a database, this removes the index, and the next search makes it again. Unless conversations are given, it also
/// sets columns right that do not agree with their records, as `verify` reports them. Servers may use the database
/// meanwhile.
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

/// Rebuilds the index, and prints what was done.
pub fn reindex(args: ReindexStore) -> Result<(), CliError> {
    let ReindexStore { store, namespace, recipient, conversation, database } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let meter = Meter::new();
    let done = match &store {
        Place::Files(files) => {
            let so_far = |blocks| format!("{} checked", counted(blocks, "block"));
            rebuilt(upkeep::reindex(files, &scope, &mut |count| meter.at(|| so_far(count)))?)
        }
        Place::Database(named) => reset(upkeep::reset(named, &database.settings(&[&store])?, &scope)?),
    };
    let took = meter.end();
    let mut output = Output::new();
    output.line(&format!("reindexed {store}: {done}, in {took}"))?;
    Ok(output.flush()?)
}

fn rebuilt(Reindexed { conversations, made, removed }: Reindexed) -> String {
    let removed = match removed {
        0 => String::new(),
        removed => format!(" ({} removed)", counted(removed, "block")),
    };
    format!("{}, {} rebuilt{removed}", counted(conversations, "conversation"), counted(made, "block"))
}

fn reset(Reset { conversations, removed, mended }: Reset) -> String {
    let mended = match mended {
        0 => String::new(),
        mended => format!(", {} set right", counted(mended, "row")),
    };
    format!("{}, {} removed{mended}", counted(conversations, "conversation"), counted(removed, "block"))
}
