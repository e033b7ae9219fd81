//! Verifies an offline store: everything must be readable and consistent under the rules.
//!
//! | invariant | checked in |
//! |---|---|
//! | every record can be read, and is of a known kind | [`survey`] |
//! | every record belongs to a conversation that has a head and a policy | [`conversation`] |
//! | a conversation's records form a state that the rules can produce | [`domain::check`](crate::domain::check) |
//! | a conversation's state values are those that its description lists | [`conversation`] |
//! | ids that clients gave lead to their utterances, and back | [`said`] |
//! | every shared lineage has readers, and a record for each | [`forks`] |
//! | active conversations belong to their recipients | [`names`] |
//! | lists, due work, waiting summaries and ages of outcomes match the records they are derived from | [`indexes`] |
//!
//! If a record of a conversation is missing or unreadable, only this record is reported, not the problems
//! that follow.

mod conversation;
mod forks;
mod indexes;
mod names;
mod numbers;
mod report;
mod said;
mod survey;
#[cfg(test)]
mod tests;

pub use report::{MAX_PROBLEMS, Problem, Report};

use super::{Directory, error::unavailable, key_value::Ordered};
use crate::store::Result;
use {conversation::Conversations, forks::Forks, indexes::Indexes, names::Names, survey::Survey};

/// Checks every record of a store; passes the number of records read to `progress` now and then.
///
/// - Reads each kind of record once, in key order; names and heads twice, and shared data once more for each fork.
/// - Takes memory in proportion to the number of conversations and outcomes, and of the ids that clients gave in one
///   conversation.
/// - All problems are in the report, even if a record cannot be read.
/// - Fails if the store is an unfinished copy.
pub fn verify(directory: &Directory, progress: &mut dyn FnMut(u64)) -> Result<Report> {
    directory.check_finished().map_err(unavailable)?;
    Ok(look(&directory.pairs(), progress))
}

fn look(pairs: &dyn Ordered, progress: &mut dyn FnMut(u64)) -> Report {
    let mut survey = Survey::new(pairs, progress);
    numbers::check(&mut survey);
    let mut indexes = Indexes::read(&mut survey);
    check_records(&mut survey, &mut indexes);
    indexes.check_rest(&mut survey);
    survey.check_unknown_kinds();
    survey.done()
}

/// Checks the records of a store without an engine: all but its index entries, its own numbers, and the ids
/// that clients gave.
pub(in crate::store) fn verify_records(pairs: &dyn Ordered, progress: &mut dyn FnMut(u64)) -> Report {
    let mut survey = Survey::new(pairs, progress);
    check_records(&mut survey, &mut Indexes::default());
    survey.done()
}

fn check_records(survey: &mut Survey<'_>, indexes: &mut Indexes) {
    let names = Names::read(survey);
    let mut forks = Forks::read(survey, &names);
    Conversations::check(survey, &names, &forks, indexes);
    forks.check_readers(survey, &names);
    names.check_active(survey);
    indexes.check_outcomes(survey);
}
