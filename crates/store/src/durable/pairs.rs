//! Reads records from the pairs of an engine.

use std::ops::{Bound, Range};

use super::key_value::{Key, KeyValue, KeyValueError, Pairs};
use crate::records::{self, BadRecord, Kind};

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
pub fn get<K: Kind>(stored: &dyn KeyValue, key: &K::Key) -> Result<Option<K::Value>, Unread> {
    let key = records::key::<K>(key);
    let Some(value) = stored.get(&key)? else { return Ok(None) };
    Ok(Some(records::decode::<K>(&key, &value)?.1))
}

/// Returns the records of a kind whose keys are in `range`, in key order.
pub fn read<'a, K: Kind>(
    stored: &'a dyn KeyValue,
    range: &Range<Key>,
) -> impl DoubleEndedIterator<Item = Result<(K::Key, K::Value), Unread>> + use<'a, K> {
    within(stored, range).map(|pair| {
        let (key, value) = pair?;
        Ok(records::decode::<K>(&key, &value)?)
    })
}

/// Returns the pairs whose keys are in `range`.
pub fn within<'a>(stored: &'a dyn KeyValue, range: &Range<Key>) -> Pairs<'a> {
    stored.range(Bound::Included(&range.start), Bound::Excluded(&range.end))
}
