//! Reads records from pairs.

use std::ops::{Bound, Range};

use super::{BadRecord, Kind, kind};
use crate::durable::key_value::{Key, KeyValue, KeyValueError, Pairs};

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub enum Unread {
    /// The engine failed.
    Engine(#[from] KeyValueError),
    /// The record is not readable.
    Bad(#[from] BadRecord),
}

/// Returns the value of the record with a key, if it exists.
pub fn get<K: Kind>(pairs: &dyn KeyValue, key: &K::Key) -> Result<Option<K::Value>, Unread> {
    let key = kind::key::<K>(key);
    let Some(value) = pairs.get(&key)? else { return Ok(None) };
    Ok(Some(kind::decode::<K>(&key, &value)?.1))
}

/// Returns the records of a kind whose keys are in `range`, in key order.
pub fn read<'a, K: Kind>(
    pairs: &'a dyn KeyValue,
    range: &Range<Key>,
) -> impl DoubleEndedIterator<Item = Result<(K::Key, K::Value), Unread>> + use<'a, K> {
    within(pairs, range).map(|pair| {
        let (key, value) = pair?;
        Ok(kind::decode::<K>(&key, &value)?)
    })
}

/// Returns the pairs whose keys are in `range`.
pub fn within<'a>(pairs: &'a dyn KeyValue, range: &Range<Key>) -> Pairs<'a> {
    pairs.range(Bound::Included(&range.start), Bound::Excluded(&range.end))
}
