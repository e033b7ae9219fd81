//! Rebuilds the lists of namespaces, and the lists by update, for a store that an earlier version wrote or
//! that is a copy.

use super::{
    key_value::{Key, KeyValue, KeyValueError, Value},
    records::{
        self, ConversationName, Heads, Kind, ListPlace, NamespacePlace, RecipientUpdated, Started, Updated,
    },
};
use crate::{domain::Identity, store::listing::span_of};

/// Bytes of keys per batch.
const BATCH_BYTES: usize = 4 << 20;

/// Keys with their values; `None` removes the key.
pub(super) type Writes = Vec<(Key, Option<Value>)>;

/// The record kinds of these lists, which are derived from other records.
pub(super) const KINDS: [u8; 3] = [Started::NUMBER, Updated::NUMBER, RecipientUpdated::NUMBER];

/// Rebuilds the lists and hands over the writes in batches. A conversation whose name or head cannot be read
/// is left out.
pub(super) fn make(
    pairs: &dyn KeyValue,
    write: &mut dyn FnMut(Writes) -> Result<(), KeyValueError>,
) -> Result<(), KeyValueError> {
    let mut batch = Batch { writes: Vec::new(), bytes: 0, only_missing: false, write };
    for kind in
        [records::all_of::<Started>(), records::all_of::<Updated>(), records::all_of::<RecipientUpdated>()]
    {
        records::within(pairs, &kind).try_for_each(|pair| batch.add(pair?.0, None))?;
    }
    batch.list_all(pairs)
}

/// Hands over only the missing list entries, for lists without wrong ones; once the lists are complete,
/// nothing.
pub(super) fn complete(
    pairs: &dyn KeyValue,
    write: &mut dyn FnMut(Writes) -> Result<(), KeyValueError>,
) -> Result<(), KeyValueError> {
    Batch { writes: Vec::new(), bytes: 0, only_missing: true, write }.list_all(pairs)
}

struct Batch<'a> {
    writes: Writes,
    bytes: usize,
    /// Skip entries that already exist.
    only_missing: bool,
    write: &'a mut dyn FnMut(Writes) -> Result<(), KeyValueError>,
}

impl Batch<'_> {
    fn list_all(mut self, pairs: &dyn KeyValue) -> Result<(), KeyValueError> {
        for pair in records::within(pairs, &records::all_of::<ConversationName>()) {
            let (key, value) = pair?;
            if let Ok((_, identity)) = records::decode::<ConversationName>(&key, &value) {
                self.list(pairs, &identity)?;
            }
        }
        self.hand_over()
    }

    fn list(&mut self, pairs: &dyn KeyValue, identity: &Identity) -> Result<(), KeyValueError> {
        if !identity.is_listed() {
            return Ok(());
        }
        let Ok(Some(record)) = records::get::<Heads>(pairs, &identity.lineage) else { return Ok(()) };
        let time = span_of(record.head.update_time);
        self.put::<Started>(pairs, &NamespacePlace::of(identity, identity.start_time))?;
        self.put::<Updated>(pairs, &NamespacePlace::of(identity, time))?;
        self.put::<RecipientUpdated>(pairs, &ListPlace { time, ..ListPlace::of(identity) })
    }

    fn put<K: Kind<Value = ()>>(&mut self, pairs: &dyn KeyValue, key: &K::Key) -> Result<(), KeyValueError> {
        let (key, value) = records::pair::<K>(key, &());
        match self.only_missing && pairs.get(&key)?.is_some() {
            true => Ok(()),
            false => self.add(key, Some(value)),
        }
    }

    fn add(&mut self, key: Key, value: Option<Value>) -> Result<(), KeyValueError> {
        self.bytes += key.len();
        self.writes.push((key, value));
        if self.bytes >= BATCH_BYTES { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), KeyValueError> {
        self.bytes = 0;
        match std::mem::take(&mut self.writes) {
            writes if writes.is_empty() => Ok(()),
            writes => (self.write)(writes),
        }
    }
}
