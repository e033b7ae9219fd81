//! `utterd reindex`: a durable store without what it keeps of the search index.

use super::{args, errors::CliError, meter::Meter, output::Output, text::counted};
use crate::server::upkeep::{self, Unindexed};

/// Removes the index, and tells how much of it there was.
pub fn reindex(args: args::ReindexStore) -> Result<(), CliError> {
    let args::ReindexStore { store, namespace, recipient, conversation } = args;
    let scope = upkeep::scope(&namespace, recipient.as_deref(), conversation.as_deref());
    let scope = scope.map_err(CliError::Usage)?;
    let mut meter = Meter::new();
    let so_far = |conversations| format!("{} looked at", counted(conversations, "conversation"));
    let unindexed = upkeep::unindex(&store, &scope, &mut |count| meter.at(|| so_far(count)))?;
    let took = meter.end();
    let Unindexed { conversations, blocks } = unindexed;
    let removed = counted(blocks, "block");
    let mut output = Output::new();
    output.line(&format!(
        "removed {removed} of the search index of {} from {store}, in {took}; searches make them anew",
        counted(conversations, "conversation")
    ))?;
    Ok(output.flush()?)
}
