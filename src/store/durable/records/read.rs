//! Records as they are read out of pairs.

use std::ops::{Bound, Range};

use super::{BadRecord, Kind, kind, prefix_end};
use crate::store::durable::key_value::{Key, KeyValue, KeyValueError, Pairs, Value};

/// A record that was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub enum Unread {
    /// The engine fails.
    Engine(#[from] KeyValueError),
    /// It cannot be understood.
    Bad(#[from] BadRecord),
}

/// The value of the record with a key, if there is one.
pub fn get<K: Kind>(pairs: &dyn KeyValue, key: &K::Key) -> Result<Option<K::Value>, Unread> {
    let key = kind::key::<K>(key);
    let Some(value) = pairs.get(&key)? else { return Ok(None) };
    Ok(Some(kind::decode::<K>(&key, &value)?.1))
}

/// A record out of a range of pairs.
pub fn read<K: Kind>(pair: Result<(Key, Value), KeyValueError>) -> Result<(K::Key, K::Value), Unread> {
    let (key, value) = pair?;
    Ok(kind::decode::<K>(&key, &value)?)
}

/// The pairs whose keys begin with `prefix`.
pub fn beginning<'a>(pairs: &'a dyn KeyValue, prefix: &[u8]) -> Pairs<'a> {
    from(pairs, prefix, prefix)
}

/// Of the pairs whose keys begin with `prefix`, those from the key `first` on.
pub fn from<'a>(pairs: &'a dyn KeyValue, first: &[u8], prefix: &[u8]) -> Pairs<'a> {
    pairs.range(Bound::Included(first), prefix_end(prefix).as_ref().map(Vec::as_slice))
}

/// The pairs whose keys are in `range`.
pub fn within<'a>(pairs: &'a dyn KeyValue, range: &Range<Key>) -> Pairs<'a> {
    pairs.range(Bound::Included(&range.start), Bound::Excluded(&range.end))
}
