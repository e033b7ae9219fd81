//! Looks at a store at rest: whether all can be read, and fits together as the rules leave it.
//!
//! | what must hold | where it is looked at |
//! |---|---|
//! | every record can be read, and is of a known kind | [`survey`], [`unknown_kinds`] |
//! | lineages that forks share are read by somebody, and it is told by whom | [`lineages`], [`forked`] |
//! | every record belongs to a conversation that has a head and a policy | [`conversation`] |
//! | what belongs to one is a state that the rules make | [`domain::check`](crate::domain::check) |
//! | values of a conversation's state are those that its description tells of | [`conversation`] |
//! | ids that clients gave lead to their utterances, and back | [`given_ids`] |
//! | lists, active conversations, due work and what waits are those of the conversations | [`indexes`] |
//! | outcomes are in the order of their age | [`outcomes`] |
//!
//! Of a conversation of which a record is missing or cannot be read, that is told, and not what
//! follows from it.

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

use super::{Directory, error::unavailable, key_value::KeyValue};
use crate::store::StoreError;
use {lineages::Lineages, names::Names, survey::Survey};

/// Looks at every record of a store; tells now and then how many were read.
///
/// - Reads each kind of record once, in the order of the keys; heads twice, and what forks share once
///   more for each of them. What leads to another record, and what it leads to, is looked up.
/// - Takes memory by the number of conversations, not by what was said in them.
/// - What is wrong is in the report, also when a record cannot be read.
/// - Fails when the store is a copy that was not finished.
pub fn verify(directory: &Directory, progress: &mut dyn FnMut(u64)) -> Result<Report, StoreError> {
    directory.check_finished().map_err(unavailable)?;
    Ok(look(directory.pairs(), directory.is_listed(), progress))
}

fn look(pairs: &dyn KeyValue, listed: bool, progress: &mut dyn FnMut(u64)) -> Report {
    let mut survey = Survey::new(pairs, progress);
    numbers::check(&mut survey);
    let mut names = Names::read(&mut survey);
    let lineages = Lineages::read(&survey, &mut names);
    conversation::check_all(&mut survey, &mut names, &lineages);
    lineages.check_readers(&mut survey, &mut names);
    indexes::check(&mut survey, &mut names, listed);
    outcomes::check(&mut survey);
    unknown_kinds::check(&mut survey);
    survey.done()
}
