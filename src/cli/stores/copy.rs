//! `utterd copy`: copies a store into another.

use clap::Args;

use super::{
    database::DatabaseOptions,
    meter::Meter,
    verify::{problems, whole},
};
use crate::cli::{
    errors::CliError,
    terminal::{
        output::Output,
        text::{bytes, count, counted},
    },
};
use crate::config::Place;
use crate::server::upkeep::{self, Copied, Copying, Report};

/// Copy a store into another one
///
/// The backends may differ. The command compares and verifies the copy at the end. If it is interrupted, repeat it to
/// continue.
///
/// No server may use either store meanwhile, with one exception: servers may use a database that is copied from. The copy
/// has its content as of one moment; after later writes, an interrupted copy cannot be continued. A schema that is
/// copied to must be empty, and is created if it is missing. Servers refuse it until the copy is complete.
///
/// A PLACE is fjall:DIR or sled:DIR; the URL of a database, with ?schema=NAME unless the schema is that of the settings
/// (utterd by default); or postgres, for the database of the settings: UTTERD_DATABASE_URL and UTTERD_DATABASE_SCHEMA,
/// or the same keys in the configuration file. Other users of the machine can see a password on the command line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd copy --from sled:utterd-data --to fjall:/var/lib/utterd
  utterd copy --from fjall:utterd-data --to postgres://utterd@db1/utterd
  utterd copy --from 'postgres://utterd@db1/utterd?schema=talk' --to fjall:copy")]
pub struct CopyStore {
    /// The store to copy
    #[arg(long, value_name = "PLACE")]
    pub from: Place,
    /// The store to copy into: a new one, or an interrupted copy
    #[arg(long, value_name = "PLACE")]
    pub to: Place,
    #[command(flatten)]
    pub database: DatabaseOptions,
}

/// Copies, verifies the copy, and prints what is in it.
pub fn copy(args: CopyStore) -> Result<(), CliError> {
    let CopyStore { from, to, database } = args;
    let settings = database.settings(&[&from, &to])?;
    let meter = Meter::new();
    let progress = &mut |copying| meter.at(|| so_far(copying));
    let (copied, report) = upkeep::copy(&from, &to, &settings, progress)?;
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
