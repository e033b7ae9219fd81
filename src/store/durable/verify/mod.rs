//! Verifies a store at rest: everything must be readable and consistent under the rules.
//!
//! | invariant | checked in |
//! |---|---|
//! | every record can be read, and is of a known kind | [`survey`], [`unknown_kinds`] |
//! | every shared lineage has readers, and a record for each | [`lineages`], [`forked`] |
//! | every record belongs to a conversation that has a head and a policy | [`conversation`] |
//! | a conversation's records form a state that the rules can produce | [`domain::check`](crate::domain::check) |
//! | a conversation's state values are those that its description lists | [`conversation`] |
//! | ids that clients gave lead to their utterances, and back | [`given_ids`] |
//! | lists, active conversations, due work and waiting summaries match the conversations | [`indexes`] |
//! | outcomes are indexed by age | [`outcomes`] |
//!
//! If a record of a conversation is missing or unreadable, only that is reported, not what follows from it.

mod conversation;
mod forked;
mod found;
mod given_ids;
mod indexes;
mod lineages;
mod names;
mod numbers;
mod outcomes;
mod report;
mod stream;
mod survey;
#[cfg(test)]
mod tests;
mod unknown_kinds;

pub use report::{MAX_PROBLEMS, Problem, Report};

use super::{
    Directory,
    error::unavailable,
    key_value::{KeyValue, Ordered},
    records::Outcomes,
};
use crate::store::StoreError;
use {lineages::Lineages, names::Names, survey::Survey};

/// Checks every record of a store; now and then reports how many were read.
///
/// - Reads each kind of record once, in key order; heads twice, and shared data once more for each fork.
///   References to and from other records are looked up.
/// - Takes memory in proportion to the number of conversations, not to their length.
/// - All problems are in the report, even if a record cannot be read.
/// - Fails if the store is an unfinished copy.
pub fn verify(directory: &Directory, progress: &mut dyn FnMut(u64)) -> Result<Report, StoreError> {
    directory.check_finished().map_err(unavailable)?;
    Ok(look(directory.pairs(), directory.is_listed(), progress))
}

fn look(pairs: &dyn KeyValue, listed: bool, progress: &mut dyn FnMut(u64)) -> Report {
    let mut survey = Survey::new(&pairs, Some(pairs), progress);
    numbers::check(&mut survey);
    let mut names = check_conversations(&mut survey);
    indexes::check(&mut survey, &mut names, listed);
    outcomes::check(&mut survey);
    unknown_kinds::check(&mut survey);
    survey.done()
}

/// Checks the records of a store without an engine: all but its indexes, numbers and lists.
pub(in crate::store) fn verify_records(pairs: &dyn Ordered, progress: &mut dyn FnMut(u64)) -> Report {
    let mut survey = Survey::new(pairs, None, progress);
    check_conversations(&mut survey);
    survey.walk::<Outcomes>(|_, _, _| {});
    survey.done()
}

fn check_conversations(survey: &mut Survey<'_>) -> Names {
    let mut names = Names::read(survey);
    let lineages = Lineages::read(survey, &mut names);
    conversation::check_all(survey, &mut names, &lineages);
    lineages.check_readers(survey, &mut names);
    indexes::check_active(survey, &mut names);
    names
}
