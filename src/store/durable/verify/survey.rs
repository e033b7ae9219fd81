//! Iterates over a store's records and collects problems.

use std::{collections::BTreeMap, fmt::Display, ops::Bound};

use super::Report;
use crate::store::durable::{
    key_value::{Ascending, Key, Ordered, Value},
    lineages::KindName,
    records::{self, Kind, Outcomes, Record, Segments, Unread, Utterances},
};

/// Records between two progress reports.
const STEP: u64 = 1_000;

/// A verification in progress, and its findings so far.
pub(super) struct Survey<'a> {
    pub(super) pairs: &'a dyn Ordered,
    pub(super) report: Report,
    /// Whether all records that index entries are derived from were found and read.
    pub(super) complete: bool,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a> Survey<'a> {
    pub(super) fn new(pairs: &'a dyn Ordered, progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { pairs, report: Report::default(), complete: true, progress }
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

    /// Reports that a record of a kind, or the rest of the kind, cannot be read.
    pub(super) fn unread(&mut self, kind: &str, error: Unread) {
        match error {
            Unread::Bad(bad) => self.problem(&bad.record, &bad.fault),
            Unread::Engine(error) => self.problem(
                format_args!("the records of the kind {kind:?}"),
                format_args!("not all can be read: {error}"),
            ),
        }
    }

    /// Counts records that were read, by kind.
    pub(super) fn count(&mut self, read: BTreeMap<u8, u64>) {
        let steps = self.report.records / STEP;
        for (kind, count) in read {
            self.report.records += count;
            match kind {
                Utterances::NUMBER => self.report.utterances += count,
                Segments::NUMBER => self.report.segments += count,
                Outcomes::NUMBER => self.report.outcomes += count,
                _ => {}
            }
        }
        if self.report.records / STEP > steps {
            (self.progress)(self.report.records);
        }
    }

    /// Returns the pairs of a kind.
    pub(super) fn all_of(&self, kind: u8) -> Ascending<'a> {
        let next = [kind.saturating_add(1)];
        let end = if kind == u8::MAX { Bound::Unbounded } else { Bound::Excluded(&next[..]) };
        self.pairs.ascending(Bound::Included(&[kind]), end)
    }

    /// Calls `each` for all pairs of a kind, in order. Returns whether all could be read.
    pub(super) fn each_pair(
        &mut self,
        (kind, name): KindName,
        mut each: impl FnMut(&mut Self, Key, Value),
    ) -> bool {
        for pair in self.all_of(kind) {
            match pair {
                Ok((key, value)) => {
                    self.count([(kind, 1)].into());
                    each(self, key, value);
                }
                Err(error) => {
                    self.unread(name, error.into());
                    return false;
                }
            }
        }
        true
    }

    /// Calls `each` for all records of a kind whose keys can be read, in order. Reports unreadable values,
    /// and passes `None` for them. Returns whether no record was skipped.
    pub(super) fn each<K: Kind>(
        &mut self,
        mut each: impl FnMut(&mut Self, K::Key, Option<K::Value>),
    ) -> bool {
        self.each_pair((K::NUMBER, K::NAME), |survey, key, value| match records::decode::<K>(&key, &value) {
            Ok((key, value)) => each(survey, key, Some(value)),
            Err(bad) => {
                survey.unread(K::NAME, bad.into());
                if let Ok(key) = records::decode_key::<K>(&key) {
                    each(survey, key, None);
                }
            }
        })
    }

    /// Reports records of unknown kinds, up to the first engine error.
    pub(super) fn check_unknown_kinds(&mut self) {
        let mut unknown = (0..=u8::MAX).filter(|kind| !Record::NUMBERS.contains(kind));
        unknown.all(|kind| {
            self.each_pair((kind, "unknown"), |survey, key, value| {
                if let Err(bad) = Record::read(&key, &value) {
                    survey.unread("unknown", bad.into());
                }
            })
        });
    }
}
