//! The records of one kind, lineage by lineage.

use std::sync::Arc;

use super::{found::Found, survey::Survey};
use crate::{
    domain::LineageId,
    store::durable::{
        key_value::{KeyValueError, Pairs},
        records::{self, Kind},
    },
};

/// A key that begins with the lineage that it is of.
pub(super) trait OfLineage {
    fn lineage(&self) -> LineageId;
}

impl OfLineage for LineageId {
    fn lineage(&self) -> LineageId {
        *self
    }
}

impl<T> OfLineage for (LineageId, T) {
    fn lineage(&self) -> LineageId {
        self.0
    }
}

/// A walk through the records of a kind. Where the engine fails, the rest of that lineage is left
/// out, and the walk goes on with the next one.
pub(super) struct Stream<'a, K: Kind> {
    pairs: Pairs<'a>,
    next: Option<(K::Key, Option<K::Value>)>,
    broken: bool,
    /// What the engine failed with last: one damage may break the walk for many lineages.
    error: Option<KeyValueError>,
}

impl<'a, K: Kind<Key: OfLineage>> Stream<'a, K> {
    /// Begins with the first record of the kind.
    pub(super) fn open(survey: &mut Survey<'a>) -> Self {
        let prefix = records::all_of::<K>();
        let pairs = survey.from(&prefix, &prefix);
        let mut stream = Self { pairs, next: None, broken: false, error: None };
        stream.advance(survey);
        stream
    }

    /// The lineage of the next record.
    pub(super) fn lineage(&self) -> Option<LineageId> {
        self.next.as_ref().map(|(key, _)| key.lineage())
    }

    /// Whether records of the present lineage may have been left out.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Goes on with `lineage` if the engine failed in the one before.
    pub(super) fn resume(&mut self, lineage: LineageId, survey: &mut Survey<'a>) {
        if self.broken {
            let prefix = records::all_of::<K>();
            let first = [&*prefix, &lineage.0].concat();
            self.pairs = survey.from(&first, &prefix);
            self.broken = false;
            self.advance(survey);
        }
    }

    /// The next record, if it is of `lineage`; without a value when it cannot be read.
    pub(super) fn take(
        &mut self,
        lineage: LineageId,
        survey: &mut Survey<'a>,
    ) -> Option<(K::Key, Option<K::Value>)> {
        let taken = self.next.take_if(|(key, _)| key.lineage() == lineage)?;
        self.advance(survey);
        Some(taken)
    }

    /// The only record of `lineage`.
    pub(super) fn one(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> Found<K::Value> {
        match self.take(lineage, survey) {
            Some((_, Some(value))) => Found::There(value),
            Some((_, None)) => Found::Unreadable,
            None if self.broken => Found::Unreadable,
            None => Found::Missing,
        }
    }

    /// How many records are left of `lineage`, and their values; `None` when not all can be read.
    pub(super) fn all(
        &mut self,
        lineage: LineageId,
        survey: &mut Survey<'a>,
    ) -> (u64, Option<Vec<Arc<K::Value>>>) {
        let (mut count, mut values) = (0, Some(Vec::new()));
        while let Some((_, value)) = self.take(lineage, survey) {
            count += 1;
            values = values.zip(value).map(|(mut values, value)| {
                values.push(Arc::new(value));
                values
            });
        }
        (count, values.filter(|_| !self.broken))
    }

    /// Passes over what is left of `lineage`; answers how many records.
    pub(super) fn pass(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> u64 {
        let mut passed = 0;
        while self.take(lineage, survey).is_some() {
            passed += 1;
        }
        passed
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
