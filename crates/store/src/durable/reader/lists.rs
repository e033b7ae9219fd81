//! Lists of conversations in a durable store.

use std::{
    ops::{Deref, Range},
    sync::Arc,
};

use super::{Reader, unreadable};
use crate::{
    List, Result,
    durable::pairs,
    entries::Entries,
    listing::Lists,
    records::{self, ConversationName, Heads, Key, Kind},
};
use utterd_domain::{ConversationKey, Head, Identity, Timestamp};

impl Entries for Reader {
    fn among<'a, K: Kind>(
        &'a self,
        range: &Range<Key>,
    ) -> Box<dyn DoubleEndedIterator<Item = Result<K::Key>> + 'a> {
        Box::new(pairs::within(self.pairs(), range).map(|pair| {
            let (key, _) = pair.map_err(unreadable)?;
            records::decode_key::<K>(&key).map_err(unreadable)
        }))
    }
}

impl Lists for Reader {
    fn entries(&self) -> impl Deref<Target: Entries> {
        self
    }

    fn named(&self, list: &List, limit: usize) -> Result<Vec<Arc<Identity>>> {
        let names = records::names_from(list.of.namespace(), &list.id_prefix);
        let identities = self.all::<ConversationName>(&names).map(|record| Ok(record?.1));
        let is_listed =
            |identity: &Result<Arc<Identity>>| identity.as_ref().map_or(true, |it| it.is_listed());
        identities.filter(is_listed).take(limit).collect()
    }

    fn update_time(&self, key: &ConversationKey) -> Result<Option<Timestamp>> {
        let Some(lineage) = self.lineage(key)? else { return Ok(None) };
        Ok(self.get::<Heads>(&lineage)?.map(|record| record.head.update_time))
    }

    fn head(&self, key: &ConversationKey) -> Result<Option<Head>> {
        self.consistent(key, |reader, record| Ok(reader.complete(record)?.head))
    }
}
