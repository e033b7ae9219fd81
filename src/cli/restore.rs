//! `utterd restore`: a durable store of a backup.

use super::{
    args,
    copy::{all, so_far},
    errors::CliError,
    meter::Meter,
    output::Output,
    verify::{problems, whole},
};
use crate::server::upkeep;

/// Checks the backup, makes the store, verifies it, and tells what is in it.
pub fn restore(args: args::RestoreBackup) -> Result<(), CliError> {
    let args::RestoreBackup { file, to } = args;
    let mut meter = Meter::new();
    let (copied, report) = upkeep::restore(&file, &to, &mut |copying| meter.at(|| so_far(copying)))?;
    let took = meter.end();
    let mut output = Output::new();
    problems(&report, &mut output)?;
    let file = file.display();
    output.line(&format!("restored {file} to {to} and verified it: {}, in {took}", all(&copied, &report)))?;
    output.flush()?;
    whole(to, &report)
}
