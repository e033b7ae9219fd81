//! `utterd copy`: copies a durable store into another.

use clap::Args;

use super::{
    errors::CliError,
    meter::Meter,
    output::Output,
    text::{bytes, count, counted},
    verify::{problems, whole},
};
use crate::config::Place;
use crate::server::upkeep::{self, Copied, Copying, Report};

/// Copy a durable store into another, with the same engine or a different one
///
/// No server may be using either store. If a copy is interrupted, repeat the command to continue
/// it; at the end, everything copied is verified.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd copy --from sled:utterd-data --to fjall:/var/lib/utterd")]
pub struct CopyStore {
    /// The store to copy: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR")]
    pub from: Place,
    /// The store to copy into: a new one, or an interrupted copy
    #[arg(long, value_name = "BACKEND:DIR")]
    pub to: Place,
}

/// Copies, verifies the copy, and prints what is in it.
pub fn copy(args: CopyStore) -> Result<(), CliError> {
    let CopyStore { from, to } = args;
    let meter = Meter::new();
    let (copied, report) = upkeep::copy(&from, &to, &mut |copying| meter.at(|| so_far(copying)))?;
    let took = meter.end();
    let mut output = Output::new();
    problems(&report, &mut output)?;
    output.line(&format!("copied {from} to {to} and verified it: {}, in {took}", all(&copied, &report)))?;
    output.flush()?;
    whole(to, &report)
}

/// The progress of a copy or a restore.
pub fn so_far(copying: Copying) -> String {
    match copying {
        Copying::Checked(held) => format!("{} checked", counted(held.records, "record")),
        Copying::Copied(Copied { records, bytes: size, verified: 0, .. }) => {
            format!("{} copied, {}", counted(records, "record"), bytes(size))
        }
        Copying::Copied(Copied { records, verified, .. }) => {
            format!("{} of {} compared", count(verified), counted(records, "record"))
        }
        Copying::Verified(records) => format!("{} verified", counted(records, "record")),
    }
}

/// What was copied.
pub fn all(copied: &Copied, report: &Report) -> String {
    let already = match copied.resumed {
        0 => String::new(),
        resumed => format!(" ({} were already there)", count(resumed)),
    };
    format!(
        "{}, {}, {}{already}, {}",
        counted(report.conversations, "conversation"),
        counted(report.utterances, "utterance"),
        counted(copied.records, "record"),
        bytes(copied.bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPIED: Copied = Copied { records: 9_000, bytes: 1 << 20, resumed: 0, verified: 0 };

    #[test]
    fn progress_tells_of_copying_comparing_and_verifying() {
        assert_eq!(so_far(Copying::Copied(COPIED)), "9,000 records copied, 1.00 MiB");
        let compared = Copying::Copied(Copied { verified: 4_000, ..COPIED });
        assert_eq!(so_far(compared), "4,000 of 9,000 records compared");
        assert_eq!(so_far(Copying::Verified(1)), "1 record verified");
    }

    #[test]
    fn what_was_there_already_is_told() {
        let report = Report { conversations: 1, utterances: 2_000, ..Report::default() };
        let told = "1 conversation, 2,000 utterances, 9,000 records, 1.00 MiB";
        assert_eq!(all(&COPIED, &report), told);
        let resumed = Copied { resumed: 4_500, ..COPIED };
        assert!(all(&resumed, &report).contains(", 9,000 records (4,500 were already there), "));
    }
}
