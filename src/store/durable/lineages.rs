//! Reads the records whose keys begin with a lineage, lineage by lineage.

use std::{
    collections::BTreeMap,
    iter::{self, Peekable},
    ops::Bound,
    sync::Arc,
};

use super::{
    key_value::{Ascending, Key, KeyValueError, Ordered, Value},
    records::{
        self, Description, Descriptions, Endings, HeadRecord, Heads, Kind, OfLineage, Policies, Record,
        Segments, Unread,
    },
};
use crate::domain::{Ending, Identity, LineageId, Policy, Timestamp, segment::Segment};

/// The number and the name of a kind of record.
pub(in crate::store) type KindName = (u8, &'static str);

/// The records of some kinds, ascending by lineage. After a read error, the other records of that kind in the
/// lineage are skipped, and reading continues with the next lineage.
pub(in crate::store) struct Lineages<'a> {
    pairs: &'a dyn Ordered,
    streams: Vec<Stream<'a>>,
    /// The read errors, each with the name of the kind. The caller removes them.
    pub(in crate::store) unread: Vec<(&'static str, Unread)>,
    /// The number of records read, by kind. The caller removes the counts.
    pub(in crate::store) read: BTreeMap<u8, u64>,
}

/// The records of a kind.
struct Stream<'a> {
    kind: KindName,
    pairs: Peekable<Ascending<'a>>,
    /// Whether records of the current lineage may have been skipped.
    is_broken: bool,
    /// The last error: one damaged place can end the iteration for many lineages.
    error: Option<KeyValueError>,
}

impl<'a> Lineages<'a> {
    /// Starts at the first lineage.
    pub(in crate::store) fn of(pairs: &'a dyn Ordered, kinds: impl IntoIterator<Item = KindName>) -> Self {
        let open = |kind| Stream {
            kind,
            pairs: records_from(pairs, kind, LineageId([0; 16])),
            is_broken: false,
            error: None,
        };
        let streams = kinds.into_iter().map(open).collect();
        Self { pairs, streams, unread: Vec::new(), read: BTreeMap::new() }
    }

    /// Returns the next lineage with a record. The caller must have taken all records of the previous
    /// lineage.
    pub(in crate::store) fn next_lineage(&mut self) -> Option<LineageId> {
        let next = self.streams.iter_mut().filter_map(Stream::lineage).min();
        for place in 0..self.streams.len() {
            match next {
                Some(lineage) => self.streams[place].resume(self.pairs, lineage),
                None => drop(self.pair(place, LineageId([u8::MAX; 16]))),
            }
        }
        next
    }

    /// Returns the next record of a kind in `lineage`: its key, its value if that can be read, and its bytes.
    pub(in crate::store) fn take<K: Kind<Key: OfLineage>>(
        &mut self,
        lineage: LineageId,
    ) -> Option<(K::Key, Option<K::Value>, Value)> {
        let place = self.place::<K>()?;
        loop {
            let (key, stored) = self.pair(place, lineage)?;
            match records::decode::<K>(&key, &stored) {
                Ok((key, value)) => return Some((key, Some(value), stored)),
                Err(bad) => self.unread.push((K::NAME, bad.into())),
            }
            if let Ok(key) = records::decode_key::<K>(&key) {
                return Some((key, None, stored));
            }
        }
    }

    /// Returns the values of all records of a kind in `lineage` that can be read, with their bytes.
    pub(in crate::store) fn all<K: Kind<Key: OfLineage>>(
        &mut self,
        lineage: LineageId,
    ) -> impl Iterator<Item = (K::Value, Value)> {
        iter::from_fn(move || self.take::<K>(lineage)).filter_map(|(_, value, stored)| Some((value?, stored)))
    }

    /// Skips the records of `lineage` that were not taken; returns the kinds of the readable ones, with their
    /// counts.
    pub(in crate::store) fn rest(&mut self, lineage: LineageId) -> Vec<(&'static str, usize)> {
        let mut rest = Vec::new();
        for place in 0..self.streams.len() {
            let (_, name) = self.streams[place].kind;
            let mut count = 0;
            while let Some((key, value)) = self.pair(place, lineage) {
                match Record::read(&key, &value) {
                    Ok(_) => count += 1,
                    Err(bad) => self.unread.push((name, bad.into())),
                }
            }
            rest.extend((count > 0).then_some((name, count)));
        }
        rest
    }

    /// Whether records of a kind in the current lineage may have been skipped.
    pub(in crate::store) fn is_broken<K: Kind>(&self) -> bool {
        self.place::<K>().is_some_and(|place| self.streams[place].is_broken)
    }

    /// Whether all records taken from the current lineage could be read.
    pub(in crate::store) fn is_whole(&self) -> bool {
        self.unread.is_empty() && self.streams.iter().all(|stream| !stream.is_broken)
    }

    /// Whether records of any lineage may have been skipped.
    pub(in crate::store) fn was_broken(&self) -> bool {
        self.streams.iter().any(|stream| stream.error.is_some())
    }

    fn place<K: Kind>(&self) -> Option<usize> {
        self.streams.iter().position(|stream| stream.kind.0 == K::NUMBER)
    }

    fn pair(&mut self, place: usize, lineage: LineageId) -> Option<(Key, Value)> {
        let Stream { kind: (kind, name), pairs, is_broken, error } = &mut self.streams[place];
        let is_of_it = |key: &Key| lineage_of(key) == lineage;
        match pairs.next_if(|pair| pair.as_ref().map_or(true, |(key, _)| is_of_it(key)))? {
            Ok(pair) => {
                *self.read.entry(*kind).or_default() += 1;
                Some(pair)
            }
            Err(failed) => {
                if error.as_ref() != Some(&failed) {
                    self.unread.push((name, failed.clone().into()));
                }
                (*is_broken, *error) = (true, Some(failed));
                None
            }
        }
    }
}

impl<'a> Stream<'a> {
    fn lineage(&mut self) -> Option<LineageId> {
        self.pairs.peek()?.as_ref().ok().map(|(key, _)| lineage_of(key))
    }

    fn resume(&mut self, pairs: &'a dyn Ordered, lineage: LineageId) {
        if std::mem::take(&mut self.is_broken) {
            self.pairs = records_from(pairs, self.kind, lineage);
        }
    }
}

fn records_from(pairs: &dyn Ordered, (kind, _): KindName, lineage: LineageId) -> Peekable<Ascending<'_>> {
    let first = [&[kind][..], &lineage.0].concat();
    pairs.ascending(Bound::Included(&first), Bound::Excluded(&[kind + 1])).peekable()
}

/// Returns the lineage in a key, behind the kind. The missing bytes of a truncated key count as zeros.
pub(in crate::store) fn lineage_of(key: &[u8]) -> LineageId {
    let mut lineage = [0; 16];
    lineage.iter_mut().zip(key.iter().skip(1)).for_each(|(byte, given)| *byte = *given);
    LineageId(lineage)
}

/// The stored parts of a conversation's head and summary, with their bytes.
pub(in crate::store) struct Parts {
    pub(in crate::store) head: Option<(HeadRecord, Value)>,
    pub(in crate::store) policy: Option<(Policy, Value)>,
    pub(in crate::store) description: Option<(Description, Value)>,
    pub(in crate::store) ending: Option<(Ending, Value)>,
    pub(in crate::store) segments: Vec<Arc<Segment>>,
}

impl Parts {
    /// The kinds of records that are read.
    pub(in crate::store) const KINDS: [KindName; 5] = [
        (Heads::NUMBER, Heads::NAME),
        (Policies::NUMBER, Policies::NAME),
        (Descriptions::NUMBER, Descriptions::NAME),
        (Endings::NUMBER, Endings::NAME),
        (Segments::NUMBER, Segments::NAME),
    ];

    /// Takes the records of `lineage`.
    pub(in crate::store) fn take(lineages: &mut Lineages<'_>, lineage: LineageId) -> Self {
        Self {
            head: lineages.all::<Heads>(lineage).last(),
            policy: lineages.all::<Policies>(lineage).last(),
            description: lineages.all::<Descriptions>(lineage).last(),
            ending: lineages.all::<Endings>(lineage).last(),
            segments: lineages.all::<Segments>(lineage).map(|(segment, _)| Arc::new(segment)).collect(),
        }
    }

    /// Returns the head record with all parts of the head. The error says which part is missing.
    pub(in crate::store) fn whole_head(&self, identity: Arc<Identity>) -> Result<HeadRecord, &'static str> {
        let (record, _) = self.head.as_ref().ok_or("it has no head")?;
        let (policy, _) = self.policy.as_ref().ok_or("it has no policy")?;
        let description = self.description.as_ref().map(|(description, _)| description.clone());
        let ending = self.ending.as_ref().map(|(ending, _)| ending.clone());
        Ok(record.clone().complete(identity, policy.clone(), description.unwrap_or_default(), ending))
    }

    /// Returns the time since which the first of the segments, or the closing, has been waiting for a model.
    pub(in crate::store) fn awaits_since(&self) -> Option<Timestamp> {
        let awaited = self.segments.iter().filter_map(|segment| Some(segment.awaits.as_ref()?.since));
        awaited.chain(self.ending.as_ref().and_then(|(ending, _)| ending.awaits)).min()
    }
}
