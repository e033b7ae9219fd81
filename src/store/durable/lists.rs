//! Rebuilds the lists of namespaces, and the lists by update, for a store that an earlier version wrote.

use std::mem;

use super::{
    key_value::{Key, KeyValue, KeyValueError, Value},
    records::{self, ConversationName, Heads, Kind, RecipientUpdated, Started, Updated},
};
use crate::store::entries::{self, Moments};

/// Entries per batch.
const BATCH: usize = 20_000;

/// Keys with their values; `None` removes the key.
pub(super) type Writes = Vec<(Key, Option<Value>)>;

/// The record kinds of these lists, which are derived from other records.
pub(super) const KINDS: [u8; 3] = [Started::NUMBER, Updated::NUMBER, RecipientUpdated::NUMBER];

/// Rebuilds the lists, and passes the writes to `write` in batches. A conversation whose name or head cannot
/// be read is left out.
pub(super) fn make(
    pairs: &dyn KeyValue,
    write: &mut dyn FnMut(Writes) -> Result<(), KeyValueError>,
) -> Result<(), KeyValueError> {
    let lists =
        [records::all_of::<Started>(), records::all_of::<Updated>(), records::all_of::<RecipientUpdated>()];
    for list in lists {
        let removed = records::within(pairs, &list).map(|pair| Ok((pair?.0, None)));
        let removed: Writes = removed.collect::<Result<_, KeyValueError>>()?;
        removed.chunks(BATCH).try_for_each(|batch| write(batch.to_vec()))?;
    }
    complete(pairs, write)
}

/// Passes the missing list entries to `write`, in batches; nothing if the lists are complete.
pub(super) fn complete(
    pairs: &dyn KeyValue,
    write: &mut dyn FnMut(Writes) -> Result<(), KeyValueError>,
) -> Result<(), KeyValueError> {
    let mut batch = Writes::new();
    for pair in records::within(pairs, &records::all_of::<ConversationName>()) {
        let (key, value) = pair?;
        for (key, value) in listed(pairs, &key, &value) {
            if pairs.get(&key)?.is_none() {
                batch.push((key, Some(value)));
            }
        }
        if batch.len() >= BATCH {
            write(mem::take(&mut batch))?;
        }
    }
    if batch.is_empty() { Ok(()) } else { write(batch) }
}

/// Returns the entries of the conversation with this name record.
fn listed(pairs: &dyn KeyValue, key: &Key, value: &Value) -> Vec<(Key, Value)> {
    let Ok((_, identity)) = records::decode::<ConversationName>(key, value) else { return Vec::new() };
    let Ok(Some(record)) = records::get::<Heads>(pairs, &identity.lineage) else { return Vec::new() };
    let mut entries = entries::entries(&identity, &Moments::of(&record.head, None));
    entries.retain(|(key, _)| KINDS.contains(&key[0]));
    entries
}
