//! Lists of the memory store's conversations.

use std::ops::{Deref, Range};

use super::{MemoryStore, indexes::Indexes};
use crate::{
    List, Result, StoreError,
    entries::Entries,
    listing::{Lists, Named},
    records::{self, Key, Kind},
};
use utterd_domain::{ConversationId, ConversationKey, Head, Timestamp};

impl Lists for MemoryStore {
    fn entries(&self) -> impl Deref<Target: Entries> {
        self.indexes.lock()
    }

    fn named(&self, list: &List, limit: usize) -> Result<Vec<Named>> {
        Ok(self.indexes.lock().named(list, limit))
    }

    fn update_time(&self, key: &ConversationKey) -> Result<Option<Timestamp>> {
        Ok(self.with_slot(key, |slot| slot.state.as_ref().map(|state| state.head.update_time)))
    }

    fn head(&self, key: &ConversationKey) -> Result<Option<Head>> {
        Ok(self.with_slot(key, |slot| slot.state.as_ref().map(|state| state.head.clone())))
    }
}

impl Entries for Indexes {
    fn among<'a, K: Kind>(
        &'a self,
        range: &Range<Key>,
    ) -> Box<dyn DoubleEndedIterator<Item = Result<K::Key>> + 'a> {
        let read =
            |key: &Key| records::decode_key::<K>(key).map_err(|bad| StoreError::Unavailable(bad.to_string()));
        Box::new(self.entries.range(range.clone()).map(read))
    }
}

impl Indexes {
    fn named(&self, list: &List, limit: usize) -> Vec<Named> {
        let Ok(first) = ConversationId::new(&list.id_prefix) else { return Vec::new() };
        let names = self.by_name.range(list.of.key(first)..);
        let names = names.take_while(|(key, _)| {
            key.namespace == *list.of.namespace() && key.id.as_str().starts_with(&*list.id_prefix)
        });
        let named = |(key, (recipient, start_time)): (&ConversationKey, &(_, _))| Named {
            id: key.id.clone(),
            recipient: Clone::clone(recipient),
            start_time: *start_time,
        };
        names.take(limit).map(named).collect()
    }
}
