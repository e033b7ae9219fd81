//! Iterates over a store's records and collects problems.

use std::{
    fmt::Display,
    ops::{Bound, Range},
};

use super::{Report, found::Found};
use crate::store::durable::{
    key_value::{Ascending, Key, KeyValue, KeyValueError, Ordered},
    records::{self, BadRecord, Kind, Outcomes, Segments, Utterances},
};

/// Records between two progress reports.
const STEP: u64 = 1_000;

/// A verification in progress, and its findings so far.
pub(super) struct Survey<'a> {
    pub(super) pairs: &'a dyn Ordered,
    /// The engine, in which records are looked up by key; `None` if the records are not in an engine.
    pub(super) engine: Option<&'a dyn KeyValue>,
    pub(super) report: Report,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a> Survey<'a> {
    pub(super) fn new(
        pairs: &'a dyn Ordered,
        engine: Option<&'a dyn KeyValue>,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self { pairs, engine, report: Report::default(), progress }
    }

    /// Returns the report.
    pub(super) fn done(self) -> Report {
        (self.progress)(self.report.records);
        self.report
    }

    /// Reports a problem with `subject`.
    pub(super) fn problem(&mut self, subject: impl Display, what: impl Display) {
        self.report.add(subject, what);
    }

    /// Reports an unreadable record.
    pub(super) fn unreadable(&mut self, bad: &BadRecord) {
        self.problem(&bad.record, &bad.fault);
    }

    /// Reports an engine failure; the records after it are unknown.
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

    /// Calls `each` for all records of a kind whose keys can be read, in order; without a value if the value
    /// is unreadable, which is reported. Returns whether no record was skipped.
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

    /// Whether the engine has no record with the key; `false` if that cannot be read.
    pub(super) fn lacks<K: Kind>(&self, key: &K::Key) -> bool {
        self.engine.is_some_and(|engine| matches!(engine.get(&records::key::<K>(key)), Ok(None)))
    }

    /// Returns the pairs whose keys are in `range`.
    pub(super) fn within(&self, range: &Range<Key>) -> Ascending<'a> {
        self.pairs.ascending(Bound::Included(&range.start), Bound::Excluded(&range.end))
    }

    /// Reads and counts a record; reports what is unreadable.
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

/// Collects problems with one subject.
pub(super) struct Findings<'s, 'a> {
    pub(super) survey: &'s mut Survey<'a>,
    pub(super) subject: String,
}

impl Findings<'_, '_> {
    /// Reports a problem with the subject.
    pub(super) fn add(&mut self, what: impl Display) {
        self.survey.problem(&self.subject, what);
    }

    /// Returns the record if it could be read; reports it if it is missing.
    pub(super) fn there<T>(&mut self, record: Found<T>, missing: &str) -> Option<T> {
        match record {
            Found::There(value) => return Some(value),
            Found::Missing => self.add(missing),
            Found::Unreadable => {}
        }
        None
    }
}
