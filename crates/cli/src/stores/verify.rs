//! `utterd verify`: checks a store.

use std::io;

use clap::Args;

use tokio::time::Instant;

use super::database::DatabaseOptions;
use crate::{
    errors::CliError,
    terminal::{Output, count, counted, note, seconds},
};
use utterd_config::Place;
use utterd_server::upkeep::{self, Report};

/// Check a store for damage
///
/// Reads every record, every conversation and every list, and prints a line for each that is damaged or does not fit the
/// others. The exit code is 1 if there is one. Repairs nothing. No server may use files meanwhile, but servers may use a database.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd verify fjall:utterd-data
  utterd verify 'postgres://utterd@db1/utterd?schema=talk'
  utterd verify postgres --config utterd.toml")]
pub struct VerifyStore {
    /// fjall:DIR, sled:DIR, the URL of a database, or postgres for the database of the settings
    #[arg(value_name = "PLACE")]
    pub store: Place,
    #[command(flatten)]
    pub database: DatabaseOptions,
}

/// Checks everything, and prints each problem on a line, then what was checked.
pub fn verify(args: VerifyStore) -> Result<(), CliError> {
    let VerifyStore { store, database } = args;
    let settings = database.settings(&store)?;
    let began = Instant::now();
    note(&format!("reading {store}"));
    let report = upkeep::verify(&store, &settings)?;
    let took = seconds(began);
    let mut output = Output::new();
    problems(&report, &mut output)?;
    output.line(&format!("verified {store}: {}, in {took}", all(&report)))?;
    output.flush()?;
    whole(&store, &report)
}

/// Prints each problem on a line.
pub fn problems(report: &Report, output: &mut Output) -> io::Result<()> {
    for problem in &report.problems {
        output.line(&problem.to_string())?;
    }
    match report.more_problems {
        0 => Ok(()),
        more => output.line(&format!("and {} more", count(more))),
    }
}

/// Fails if anything is wrong with `store`.
pub fn whole(store: &Place, report: &Report) -> Result<(), CliError> {
    match report.problems.len() as u64 + report.more_problems {
        0 => Ok(()),
        problems => Err(CliError::Failed(format!("{} in {store}", counted(problems, "problem")))),
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
