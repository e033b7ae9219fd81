//! `utterd reindex`: the search index that a durable store keeps, made anew.

use super::{args, errors::CliError, meter::Meter, output::Output, text::counted};
use crate::server::upkeep::{self, Reindexed};

/// Makes the index anew, and tells how much of it there is.
pub fn reindex(args: args::ReindexStore) -> Result<(), CliError> {
    let args::ReindexStore { store, namespace, recipient, conversation } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let mut meter = Meter::new();
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
