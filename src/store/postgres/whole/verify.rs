//! Verifies a schema: its records, like those of a durable store, and the columns derived from them.

use super::{
    mismatches::{self, Mismatch},
    snapshot,
};
use crate::store::postgres::Options;
use crate::store::{
    Result,
    durable::{Report, verify_records},
};

/// Checks every record of a schema as of one moment, while servers keep running. Reports regularly how many
/// records were read.
///
/// - Checks records as [`durable::verify`](crate::store::durable::verify()) does, and every column that is
///   derived from a record.
/// - Reads utterances and outcomes twice.
/// - All problems are in the report, even if a record cannot be read.
/// - Blocks: must not be called on a thread of a runtime.
pub fn verify(options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Report> {
    snapshot::read(options, |snapshot| {
        let mut report = verify_records(snapshot, progress);
        mismatches::find(snapshot, &mut |Mismatch { name, columns, .. }| {
            for column in columns {
                report.add(&name, format_args!("its column {column} does not agree with its records"));
            }
            Ok(())
        })?;
        Ok(report)
    })?
}
