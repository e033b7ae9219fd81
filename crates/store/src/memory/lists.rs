//! Lists of the memory store's conversations.

use std::{
    ops::{Deref, Range},
    sync::Arc,
};

use super::{MemoryStore, indexes::Indexes};
use crate::{
    List, Result, StoreError,
    entries::Entries,
    listing::Lists,
    records::{self, ConversationName, Key, Kind},
};
use utterd_domain::{ConversationKey, Head, Identity, Timestamp};

impl Lists for MemoryStore {
    fn entries(&self) -> impl Deref<Target: Entries> {
        self.indexes.lock()
    }

    fn named(&self, list: &List, limit: usize) -> Result<Vec<Arc<Identity>>> {
        let names = records::names_from(list.of.namespace(), &list.id_prefix);
        let names: Result<Vec<_>> =
            self.indexes.lock().among::<ConversationName>(&names).take(limit).collect();
        let identity = |key| self.with_slot(&key, |slot| Some(slot.state.as_ref()?.head.identity.clone()));
        Ok(names?.into_iter().filter_map(identity).collect())
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
        let read = |key: &Key| records::decode_key::<K>(key).map_err(StoreError::unavailable);
        Box::new(self.entries.range(range.clone()).map(read))
    }
}
