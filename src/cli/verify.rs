//! `utterd verify`: whether a durable store is whole.

use std::io;

use super::{
    args,
    errors::CliError,
    meter::Meter,
    output::Output,
    text::{count, counted, visible},
};
use crate::{
    config::Place,
    server::upkeep::{self, Report},
};

/// Checks everything, and tells what is wrong, a line each, and what was checked.
pub fn verify(args: args::VerifyStore) -> Result<(), CliError> {
    let store = args.store;
    let mut meter = Meter::new();
    let so_far = |records| format!("{} verified", counted(records, "record"));
    let report = upkeep::verify(&store, &mut |records| meter.at(|| so_far(records)))?;
    let took = meter.end();
    let mut output = Output::new();
    problems(&report, &mut output)?;
    output.line(&format!("verified {store}: {}, in {took}", all(&report)))?;
    output.flush()?;
    whole(store, &report)
}

/// Tells what is wrong, a line each.
pub fn problems(report: &Report, output: &mut Output) -> io::Result<()> {
    for problem in &report.problems {
        output.line(&visible(&problem.to_string()))?;
    }
    match report.more_problems {
        0 => Ok(()),
        more => output.line(&format!("and {} more", count(more))),
    }
}

/// Fails when anything is wrong with `store`.
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
