//! `utterd scrub`: the files of a durable store without what was forgotten for good.

use super::{args, errors::CliError, meter::Meter, output::Output, text::bytes};
use crate::server::upkeep::{self, Scrubbed};

/// Rewrites the files, and tells how large they were and are.
pub fn scrub(args: args::ScrubStore) -> Result<(), CliError> {
    let store = args.store;
    let mut meter = Meter::new();
    meter.at(|| format!("rewriting {store}"));
    let Scrubbed { before, after } = upkeep::scrub(&store)?;
    let took = meter.end();
    let mut output = Output::new();
    output.line(&format!("scrubbed {store}: {} before, {} after, in {took}", bytes(before), bytes(after)))?;
    Ok(output.flush()?)
}
