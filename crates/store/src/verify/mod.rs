//! Verifies a store: everything must be readable and consistent under the rules.
//!
//! | invariant | checked in |
//! |---|---|
//! | every record can be read, and is of a known kind | `records` |
//! | every record belongs to a conversation; every shared lineage has a record for each of its readers | `records` |
//! | a conversation is in a state that the rules can produce | [`domain::check`](utterd_domain::check) |
//! | its state values are those that its description lists; ids that clients gave lead to their utterances | `conversations` |
//! | active conversations belong to their recipients | `conversations` |
//! | lists, due work and waiting work are complete, and name nothing else | `lists` |
//!
//! The records are read as they are stored, everything else through the [`Store`] contract.

mod conversations;
mod lists;
mod records;
mod report;

pub use report::{MAX_PROBLEMS, Problem, Report};

use super::{Result, Store, records::Record};
use records::Records;

/// A verification in progress, and its findings so far.
///
/// - First takes every record of the store: see [`Upkeep::each_record`](crate::Upkeep::each_record). Then
///   reads every conversation and list.
/// - Takes memory in proportion to the number of conversations.
/// - Other processes may write to the store meanwhile: a conversation that changed since is read again.
#[derive(Default)]
pub struct Survey {
    report: Report,
    records: Records,
}

impl Survey {
    /// Takes the next record, in the order of the keys.
    pub fn record(&mut self, record: Result<(Vec<u8>, Vec<u8>)>) {
        let (key, value) = match record {
            Ok(pair) => pair,
            Err(error) => {
                self.records.is_broken = true;
                return self.report.add("the records", format_args!("not all can be read: {error}"));
            }
        };
        self.report.records += 1;
        match Record::read(&key, &value) {
            Ok(record) => {
                self.report.count(&record);
                let wrong = self.records.take(&record);
                wrong.into_iter().for_each(|wrong| self.report.add(record.name(), wrong));
            }
            Err(bad) => {
                self.records.is_broken |= Records::are_needed_for_others(&key);
                self.report.add(&bad.record, &bad.fault);
            }
        }
    }

    /// Checks the conversations whose records were taken, and the lists; returns the report.
    pub async fn check(mut self, store: &dyn Store) -> Report {
        for (subject, wrong) in self.records.unread() {
            self.report.add(subject, wrong);
        }
        let mut listed = Vec::new();
        for key in std::mem::take(&mut self.records.names) {
            listed.extend(self.check_conversation(&key, store).await);
        }
        self.check_active(store).await;
        self.check_lists(listed, store).await;
        self.report
    }
}
