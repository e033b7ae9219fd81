//! The index entries: lists, due work, waiting summaries, ages of outcomes.

use std::fmt::Display;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::{names, survey::Survey};
use crate::{
    domain::Identity,
    store::{
        durable::{
            copy::describe,
            key_value::Key,
            records::{self, OutcomeAges, Outcomes, Record},
        },
        entries::{self, Moments},
    },
};

/// The entries that were found, without those that a checked record requires.
#[derive(Default)]
pub(super) struct Indexes {
    /// Hashes of their keys.
    found: FxHashSet<u64>,
    /// Whether all entries were read. If not, none is reported as missing.
    pub(super) are_known: bool,
}

impl Indexes {
    /// Reads all entries.
    pub(super) fn read(survey: &mut Survey<'_>) -> Self {
        let mut indexes = Self { found: FxHashSet::default(), are_known: true };
        for kind in entries::KINDS {
            indexes.are_known &= survey.each_pair(kind, |survey, key, value| {
                indexes.found.insert(xxh3_64(&key));
                if let Err(bad) = Record::read(&key, &value) {
                    survey.unread(kind.1, bad.into());
                }
            });
        }
        indexes
    }

    /// Checks that a conversation has its entries.
    pub(super) fn check(&mut self, identity: &Identity, moments: &Moments, survey: &mut Survey<'_>) {
        for (key, value) in entries::entries(identity, moments) {
            self.ask_for(&key, names::subject(identity), || describe(&key, &value), survey);
        }
    }

    /// Checks that each outcome has its age.
    pub(super) fn check_outcomes(&mut self, survey: &mut Survey<'_>) {
        let complete = survey.each::<Outcomes>(|survey, name, outcome| match outcome {
            Some(outcome) => {
                let age = (outcome.time, name.clone());
                let key = records::key::<OutcomeAges>(&age);
                let age = || records::name::<OutcomeAges>(&age).into();
                self.ask_for(&key, records::name::<Outcomes>(&name), age, survey);
            }
            None => survey.complete = false,
        });
        survey.complete &= complete;
    }

    fn ask_for(
        &mut self,
        key: &Key,
        subject: impl Display,
        name: impl FnOnce() -> Box<str>,
        survey: &mut Survey<'_>,
    ) {
        if !self.found.remove(&xxh3_64(key)) && self.are_known {
            survey.problem(subject, format_args!("there is no {}", name()));
        }
    }

    /// Reports entries that no record requires, if all records that entries are derived from could be read.
    pub(super) fn check_rest(self, survey: &mut Survey<'_>) {
        if self.found.is_empty() || !survey.complete {
            return;
        }
        for (kind, _) in entries::KINDS {
            let found = survey.all_of(kind).flatten().filter(|(key, _)| self.found.contains(&xxh3_64(key)));
            for record in found.filter_map(|(key, value)| Record::read(&key, &value).ok()) {
                survey.problem(record.name(), "nothing stored calls for it");
            }
        }
    }
}
