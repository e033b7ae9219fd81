//! `utterd verify`: checks a durable store.

use std::io;

use clap::Args;

use super::{
    errors::CliError,
    meter::Meter,
    output::Output,
    text::{count, counted, visible},
};
use crate::{
    config::Place,
    server::upkeep::{self, Report},
};

/// Check everything in a durable store that no server uses
///
/// Reads every record, checks that they fit together, and prints a line for each that does not;
/// the exit code is 1 if there are any. Repairs nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd verify fjall:utterd-data")]
pub struct VerifyStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
}

/// Checks everything, and prints each problem on a line, then what was checked.
pub fn verify(args: VerifyStore) -> Result<(), CliError> {
    let store = args.store;
    let meter = Meter::new();
    let so_far = |records| format!("{} verified", counted(records, "record"));
    let report = upkeep::verify(&store, &mut |records| meter.at(|| so_far(records)))?;
    let took = meter.end();
    let mut output = Output::new();
    problems(&report, &mut output)?;
    output.line(&format!("verified {store}: {}, in {took}", all(&report)))?;
    output.flush()?;
    whole(store, &report)
}

/// Prints each problem on a line.
pub fn problems(report: &Report, output: &mut Output) -> io::Result<()> {
    for problem in &report.problems {
        output.line(&visible(&problem.to_string()))?;
    }
    match report.more_problems {
        0 => Ok(()),
        more => output.line(&format!("and {} more", count(more))),
    }
}

/// Fails if anything is wrong with `store`.
pub fn whole(store: Place, report: &Report) -> Result<(), CliError> {
    match report.problems.len() as u64 + report.more_problems {
        0 => Ok(()),
        problems => Err(CliError::Damaged { store, problems: counted(problems, "problem") }),
    }
}

fn all(report: &Report) -> String {
    let counts = [
        (report.conversations, "conversation"),
        (report.utterances, "utterance"),
        (report.segments, "segment"),
        (report.outcomes, "outcome"),
        (report.records, "record"),
    ];
    counts.map(|(number, noun)| counted(number, noun)).join(", ")
}
