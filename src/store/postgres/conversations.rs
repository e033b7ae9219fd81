//! The rows of conversations, assembled from the records of any store.

use std::{collections::HashMap, iter::Peekable, marker::PhantomData, ops::Bound, sync::Arc};

use super::computed::Computed;
use crate::{
    domain::{ConversationKey, Identity, LineageId, Timestamp},
    store::durable::{
        key_value::{Ascending, Key, KeyValueError, Ordered, Value},
        records::{
            self, ConversationName, Descriptions, Endings, Heads, Kind, OfLineage, Policies, Segments, Unread,
        },
    },
};

/// The row of a conversation.
pub(super) struct ConversationRow {
    pub(super) key: ConversationKey,
    pub(super) columns: Computed,
    pub(super) identity: Value,
    pub(super) head: Value,
    pub(super) policy: Value,
    pub(super) description: Option<Value>,
    pub(super) ending: Option<Value>,
}

/// Why there is no row.
pub(super) enum NoRow {
    /// A record cannot be read.
    Unread(Unread),
    /// A record is missing: the text says which.
    Missing(String),
}

impl<T: Into<Unread>> From<T> for NoRow {
    fn from(error: T) -> Self {
        Self::Unread(error.into())
    }
}

/// The rows of all conversations, ascending by lineage. Takes memory in proportion to their number.
pub(super) struct Conversations<'a> {
    names: HashMap<LineageId, (Identity, Value)>,
    /// The first error of a name.
    unread: Option<Unread>,
    heads: Stream<'a, Heads>,
    policies: Stream<'a, Policies>,
    descriptions: Stream<'a, Descriptions>,
    endings: Stream<'a, Endings>,
    segments: Stream<'a, Segments>,
}

impl<'a> Conversations<'a> {
    /// Reads the names.
    pub(super) fn of(pairs: &'a dyn Ordered) -> Self {
        let (mut names, mut unread) = (HashMap::new(), None);
        for name in all::<ConversationName>(pairs).map(named) {
            match name {
                Ok((identity, value)) => drop(names.insert(identity.lineage, (identity, value))),
                Err(error) => drop(unread.get_or_insert(error)),
            }
        }
        Self {
            names,
            unread,
            heads: Stream::of(pairs),
            policies: Stream::of(pairs),
            descriptions: Stream::of(pairs),
            endings: Stream::of(pairs),
            segments: Stream::of(pairs),
        }
    }

    /// Fails if a name could not be read: then its conversation is missing.
    pub(super) fn check_names(&mut self) -> Result<(), Unread> {
        self.unread.take().map_or(Ok(()), Err)
    }

    fn row(&mut self, lineage: LineageId, head: Value) -> Result<ConversationRow, NoRow> {
        let policy = self.policies.one(lineage)?;
        let description = self.descriptions.one(lineage)?;
        let ending = self.endings.one(lineage)?;
        let mut awaited = self.awaited(lineage)?;
        let Some((identity, name)) = self.names.remove(&lineage) else {
            return Err(NoRow::Missing(format!("{} has no conversation", records::name::<Heads>(&lineage))));
        };
        let key = identity.key.clone();
        let Some((policy, policy_value)) = policy else {
            let name = records::name::<ConversationName>(&key);
            return Err(NoRow::Missing(format!("{name} has no policy")));
        };
        let (told, description) = description.unzip();
        let (ended, ending) = ending.unzip();
        let (_, record) = records::decode::<Heads>(&records::key::<Heads>(&lineage), &head)?;
        awaited.extend(ended.as_ref().and_then(|ending| ending.awaits));
        let whole = record.complete(Arc::new(identity), policy, told.unwrap_or_default(), ended);
        let columns = Computed::of(&whole, awaited.into_iter().min());
        Ok(ConversationRow { key, columns, identity: name, head, policy: policy_value, description, ending })
    }

    /// Since when each segment that waits for a model has been waiting.
    fn awaited(&mut self, lineage: LineageId) -> Result<Vec<Timestamp>, NoRow> {
        let segments = self.segments.take(lineage)?;
        Ok(segments.into_iter().filter_map(|(segment, _)| Some(segment.awaits?.since)).collect())
    }
}

impl Iterator for Conversations<'_> {
    type Item = Result<ConversationRow, NoRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.heads.pairs.next()?;
        let head = pair
            .map_err(NoRow::from)
            .and_then(|(key, value)| Ok((records::decode_key::<Heads>(&key)?, value)));
        Some(head.and_then(|(lineage, value)| self.row(lineage, value)))
    }
}

fn named(pair: Result<(Key, Value), KeyValueError>) -> Result<(Identity, Value), Unread> {
    let (key, value) = pair?;
    Ok((records::decode::<ConversationName>(&key, &value)?.1, value))
}

fn all<'a, K: Kind>(pairs: &'a dyn Ordered) -> Ascending<'a> {
    let range = records::all_of::<K>();
    pairs.ascending(Bound::Included(&range.start), Bound::Excluded(&range.end))
}

/// The records of a kind, which are asked for by ascending lineages.
struct Stream<'a, K> {
    pairs: Peekable<Ascending<'a>>,
    kind: PhantomData<K>,
}

impl<'a, K: Kind<Key: OfLineage>> Stream<'a, K> {
    fn of(pairs: &'a dyn Ordered) -> Self {
        Self { pairs: all::<K>(pairs).peekable(), kind: PhantomData }
    }

    /// The records of a lineage, each with its stored value.
    fn take(&mut self, lineage: LineageId) -> Result<Vec<(K::Value, Value)>, Unread> {
        let end = records::of_lineage::<K>(lineage).end;
        let mut found = Vec::new();
        while let Some(pair) = self.pairs.next_if(|pair| pair.as_ref().map_or(true, |(key, _)| *key < end)) {
            let (key, value) = pair?;
            if records::decode_key::<K>(&key)?.lineage() == lineage {
                found.push((records::decode::<K>(&key, &value)?.1, value));
            }
        }
        Ok(found)
    }

    /// The only record of a lineage.
    fn one(&mut self, lineage: LineageId) -> Result<Option<(K::Value, Value)>, Unread> {
        Ok(self.take(lineage)?.pop())
    }
}
