//! `utterd reindex`: the search index that a durable store keeps, made anew.

use clap::Args;

use super::{errors::CliError, meter::Meter, output::Output, text::counted};
use crate::config::Place;
use crate::server::upkeep::{self, Reindexed};

/// Rebuild the search index of a durable store
///
/// A store keeps an index of conversations that were searched. All of it is rebuilt from what is stored, or that
/// of the conversations named; what cannot be rebuilt is removed, and the next search makes it. What was said is
/// not touched. No server may use the store.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd reindex fjall:utterd-data
  utterd reindex fjall:utterd-data --recipient alice")]
pub struct ReindexStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
    /// Only this recipient's conversations
    #[arg(long, short, value_name = "ID", conflicts_with = "conversation")]
    pub recipient: Option<String>,
    /// Only this conversation
    #[arg(long, short, value_name = "ID")]
    pub conversation: Option<String>,
    /// The namespace of the one that is named
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
}

/// Makes the index anew, and tells how much of it there is.
pub fn reindex(args: ReindexStore) -> Result<(), CliError> {
    let ReindexStore { store, namespace, recipient, conversation } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let meter = Meter::new();
    let so_far = |blocks| format!("{} looked at", counted(blocks, "block"));
    let reindexed = upkeep::reindex(&store, &scope, &mut |count| meter.at(|| so_far(count)))?;
    let took = meter.end();
    let Reindexed { conversations, made, removed } = reindexed;
    let removed = match removed {
        0 => String::new(),
        removed => format!(" ({} removed)", counted(removed, "block")),
    };
    let (of, made) = (counted(conversations, "conversation"), counted(made, "block"));
    let mut output = Output::new();
    output.line(&format!("reindexed {store}: {of}, {made} made anew{removed}, in {took}"))?;
    Ok(output.flush()?)
}
