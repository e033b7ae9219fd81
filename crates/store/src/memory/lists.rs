//! Lists of the memory store's conversations.

use std::{ops::Range, sync::Arc};

use super::Content;
use crate::{
    List, Result, StoreError,
    entries::Entries,
    listing::Lists,
    records::{self, ConversationName, Key, Kind},
};
use utterd_domain::{ConversationKey, Head, Identity, Timestamp};

impl Lists for Content {
    fn named(&self, list: &List, limit: usize) -> Result<Vec<Arc<Identity>>> {
        let names = records::names_from(list.of.namespace(), &list.id_prefix);
        let names: Result<Vec<_>> = self.among::<ConversationName>(&names).take(limit).collect();
        Ok(names?.iter().filter_map(|key| Some(self.state(key)?.head.identity.clone())).collect())
    }

    fn update_time(&self, key: &ConversationKey) -> Result<Option<Timestamp>> {
        Ok(self.state(key).map(|state| state.head.update_time))
    }

    fn head(&self, key: &ConversationKey) -> Result<Option<Head>> {
        Ok(self.state(key).map(|state| state.head.clone()))
    }
}

impl Entries for Content {
    fn among<'a, K: Kind>(
        &'a self,
        range: &Range<Key>,
    ) -> Box<dyn DoubleEndedIterator<Item = Result<K::Key>> + 'a> {
        let read = |key: &Key| records::decode_key::<K>(key).map_err(StoreError::unavailable);
        Box::new(self.indexes.entries.range(range.clone()).map(read))
    }
}
