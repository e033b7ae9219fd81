//! The walk through a store's records, and what it finds.

use std::{fmt::Display, ops::Range};

use super::{Problem, Report, found::Found, report::MAX_PROBLEMS};
use crate::store::durable::{
    key_value::{Key, KeyValue, KeyValueError, Pairs},
    records::{self, BadRecord, Kind, Outcomes, Segments, Utterances},
};

/// Progress is told after so many records.
const STEP: u64 = 1_000;

/// A look at a store, and what it has found so far.
pub(super) struct Survey<'a> {
    pub(super) pairs: &'a dyn KeyValue,
    pub(super) report: Report,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a> Survey<'a> {
    pub(super) fn new(pairs: &'a dyn KeyValue, progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { pairs, report: Report::default(), progress }
    }

    /// What was found.
    pub(super) fn done(self) -> Report {
        (self.progress)(self.report.records);
        self.report
    }

    /// Notes that something is wrong with `subject`.
    pub(super) fn problem(&mut self, subject: impl Display, what: impl Display) {
        match self.report.problems.len() < MAX_PROBLEMS {
            true => {
                let (subject, what) = (subject.to_string().into(), what.to_string().into());
                self.report.problems.push(Problem { subject, what });
            }
            false => self.report.more_problems += 1,
        }
    }

    /// Notes that a record cannot be understood.
    pub(super) fn unreadable(&mut self, bad: &BadRecord) {
        self.problem(&bad.record, &bad.fault);
    }

    /// Notes that the engine fails; what is behind is not known.
    pub(super) fn unread<K: Kind>(&mut self, error: &KeyValueError) {
        self.problem(
            format_args!("the records of the kind {:?}", K::NAME),
            format_args!("not all can be read: {error}"),
        );
    }

    /// Counts a record that was read.
    pub(super) fn count(&mut self) {
        self.report.records += 1;
        if self.report.records.is_multiple_of(STEP) {
            (self.progress)(self.report.records);
        }
    }

    /// All records of a kind whose keys can be read, in their order; without a value when it
    /// cannot be read, which is noted then. Answers whether none is left out.
    pub(super) fn walk<K: Kind>(
        &mut self,
        mut each: impl FnMut(&mut Self, K::Key, Option<K::Value>),
    ) -> bool {
        for pair in self.within(&records::all_of::<K>()) {
            match pair {
                Ok((key, value)) => {
                    if let Some((key, value)) = self.decode::<K>(&key, &value) {
                        each(self, key, value);
                    }
                }
                Err(error) => {
                    self.unread::<K>(&error);
                    return false;
                }
            }
        }
        true
    }

    /// Whether there is no record with a key; not where that cannot be read.
    pub(super) fn lacks<K: Kind>(&self, key: &K::Key) -> bool {
        matches!(self.pairs.get(&records::key::<K>(key)), Ok(None))
    }

    /// The pairs whose keys are in `range`.
    pub(super) fn within(&self, range: &Range<Key>) -> Pairs<'a> {
        records::within(self.pairs, range)
    }

    /// Reads a record and counts it; notes what cannot be read of it.
    pub(super) fn decode<K: Kind>(&mut self, key: &[u8], value: &[u8]) -> Option<(K::Key, Option<K::Value>)> {
        self.count();
        match K::NUMBER {
            Utterances::NUMBER => self.report.utterances += 1,
            Segments::NUMBER => self.report.segments += 1,
            Outcomes::NUMBER => self.report.outcomes += 1,
            _ => {}
        }
        match records::decode::<K>(key, value) {
            Ok((key, value)) => Some((key, Some(value))),
            Err(bad) => {
                self.unreadable(&bad);
                Some((records::decode_key::<K>(key).ok()?, None))
            }
        }
    }
}

/// What is found about one subject.
pub(super) struct Findings<'s, 'a> {
    pub(super) survey: &'s mut Survey<'a>,
    pub(super) subject: String,
}

impl Findings<'_, '_> {
    /// Notes that something is wrong with the subject.
    pub(super) fn add(&mut self, what: impl Display) {
        self.survey.problem(&self.subject, what);
    }

    /// What could be read of a record; notes when it is missing.
    pub(super) fn there<T>(&mut self, record: Found<T>, missing: &str) -> Option<T> {
        match record {
            Found::There(value) => return Some(value),
            Found::Missing => self.add(missing),
            Found::Unreadable => {}
        }
        None
    }
}
