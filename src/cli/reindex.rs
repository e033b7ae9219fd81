//! `utterd reindex`: rebuilds the search index of a durable store.

use clap::Args;

use super::{errors::CliError, meter::Meter, output::Output, text::counted};
use crate::config::Files;
use crate::server::upkeep::{self, Reindexed};

/// Rebuild the search index of a durable store
///
/// A store keeps an index of conversations that were searched. This rebuilds it from what is stored: all of it, or
/// the part for the given conversations. What cannot be rebuilt is removed, and the next search makes it again.
/// Utterances are not touched. No server may be using the store.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd reindex fjall:utterd-data
  utterd reindex fjall:utterd-data --recipient alice")]
pub struct ReindexStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Files,
    /// Only this recipient's conversations
    #[arg(long, short, value_name = "ID", conflicts_with = "conversation")]
    pub recipient: Option<String>,
    /// Only this conversation
    #[arg(long, short, value_name = "ID")]
    pub conversation: Option<String>,
    /// The namespace of the recipient or conversation
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
}

/// Rebuilds the index, and prints its size.
pub fn reindex(args: ReindexStore) -> Result<(), CliError> {
    let ReindexStore { store, namespace, recipient, conversation } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let meter = Meter::new();
    let so_far = |blocks| format!("{} checked", counted(blocks, "block"));
    let reindexed = upkeep::reindex(&store, &scope, &mut |count| meter.at(|| so_far(count)))?;
    let took = meter.end();
    let Reindexed { conversations, made, removed } = reindexed;
    let removed = match removed {
        0 => String::new(),
        removed => format!(" ({} removed)", counted(removed, "block")),
    };
    let (of, made) = (counted(conversations, "conversation"), counted(made, "block"));
    let mut output = Output::new();
    output.line(&format!("reindexed {store}: {of}, {made} rebuilt{removed}, in {took}"))?;
    Ok(output.flush()?)
}
