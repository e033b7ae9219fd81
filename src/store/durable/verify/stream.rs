//! Reads the records of one kind, lineage by lineage.

use std::{iter, sync::Arc};

use super::{found::Found, survey::Survey};
use crate::{
    domain::LineageId,
    store::durable::{
        key_value::{Ascending, KeyValueError},
        records::{self, Kind, OfLineage},
    },
};

/// An iteration over the records of any kind whose keys begin with a lineage.
pub(super) trait AnyStream<'a> {
    /// The kind's name.
    fn name(&self) -> &'static str;

    /// The lineage of the next record.
    fn lineage(&self) -> Option<LineageId>;

    /// Resumes at `lineage` if the engine failed in an earlier one.
    fn resume(&mut self, lineage: LineageId, survey: &mut Survey<'a>);

    /// Skips the remaining records of `lineage`; returns their number.
    fn pass(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> usize;
}

/// An iteration over the records of a kind. If the engine fails, the rest of that lineage is skipped, and the
/// iteration continues with the next one.
pub(super) struct Stream<'a, K: Kind> {
    pairs: Ascending<'a>,
    next: Option<(K::Key, Option<K::Value>)>,
    broken: bool,
    /// The engine's last error: one damaged place can break the iteration for many lineages.
    error: Option<KeyValueError>,
}

impl<'a, K: Kind<Key: OfLineage>> Stream<'a, K> {
    /// Starts at the first record of the kind.
    pub(super) fn open(survey: &mut Survey<'a>) -> Self {
        let pairs = survey.within(&records::all_of::<K>());
        let mut stream = Self { pairs, next: None, broken: false, error: None };
        stream.advance(survey);
        stream
    }

    /// Whether records of the current lineage may have been skipped.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns the next record if it belongs to `lineage`; without a value if the value cannot be read.
    pub(super) fn take(
        &mut self,
        lineage: LineageId,
        survey: &mut Survey<'a>,
    ) -> Option<(K::Key, Option<K::Value>)> {
        let taken = self.next.take_if(|(key, _)| key.lineage() == lineage)?;
        self.advance(survey);
        Some(taken)
    }

    /// Returns the only record of `lineage`.
    pub(super) fn one(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> Found<K::Value> {
        match self.take(lineage, survey) {
            Some((_, Some(value))) => Found::There(value),
            Some((_, None)) => Found::Unreadable,
            None if self.broken => Found::Unreadable,
            None => Found::Missing,
        }
    }

    /// Returns the values of the records of `lineage`; `None` if some cannot be read.
    pub(super) fn all(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> Option<Vec<Arc<K::Value>>> {
        let taken: Vec<_> = iter::from_fn(|| self.take(lineage, survey)).collect();
        let values = taken.into_iter().map(|(_, value)| value.map(Arc::new)).collect::<Option<_>>();
        values.filter(|_| !self.broken)
    }

    fn advance(&mut self, survey: &mut Survey<'a>) {
        for pair in self.pairs.by_ref() {
            match pair {
                Ok((key, value)) => self.next = survey.decode::<K>(&key, &value),
                Err(error) => {
                    if self.error.as_ref() != Some(&error) {
                        survey.unread::<K>(&error);
                    }
                    (self.broken, self.error) = (true, Some(error));
                }
            }
            if self.broken || self.next.is_some() {
                return;
            }
        }
    }
}

impl<'a, K: Kind<Key: OfLineage>> AnyStream<'a> for Stream<'a, K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn lineage(&self) -> Option<LineageId> {
        self.next.as_ref().map(|(key, _)| key.lineage())
    }

    fn resume(&mut self, lineage: LineageId, survey: &mut Survey<'a>) {
        if self.broken {
            self.pairs =
                survey.within(&(records::of_lineage::<K>(lineage).start..records::all_of::<K>().end));
            self.broken = false;
            self.advance(survey);
        }
    }

    fn pass(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> usize {
        iter::from_fn(|| self.take(lineage, survey)).count()
    }
}
