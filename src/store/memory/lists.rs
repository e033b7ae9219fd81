//! Lists of the memory store's conversations.

use std::ops::Bound;

use super::{MemoryStore, indexes::Indexes};
use crate::{
    domain::{ConversationId, ConversationKey, Head, Timestamp},
    store::{
        List, ListedAt, Result,
        listing::{Lists, Named},
    },
};

impl Lists for MemoryStore {
    fn started(&self, list: &List, after: Option<&ListedAt>, limit: usize) -> Result<Vec<ListedAt>> {
        Ok(self.indexes.lock().started(list, after, limit))
    }

    fn updated(
        &self,
        list: &List,
        from: Option<Timestamp>,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        Ok(self.indexes.lock().updated(list, from))
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

impl Indexes {
    pub(super) fn started(&self, list: &List, after: Option<&ListedAt>, limit: usize) -> Vec<ListedAt> {
        let Some(listed) = self.by_start.get(&list.of) else { return Vec::new() };
        let bound = after.map_or(Bound::Unbounded, Bound::Excluded);
        match list.order.newest_first {
            true => listed.range((Bound::Unbounded, bound)).rev().take(limit).cloned().collect(),
            false => listed.range((bound, Bound::Unbounded)).take(limit).cloned().collect(),
        }
    }

    fn updated(&self, list: &List, from: Option<Timestamp>) -> Option<(Timestamp, Vec<ConversationId>)> {
        let spans = self.by_update.get(&list.of)?;
        let bound = from.as_ref().map_or(Bound::Unbounded, Bound::Included);
        let (span, ids) = match list.order.newest_first {
            true => spans.range((Bound::Unbounded, bound)).next_back()?,
            false => spans.range((bound, Bound::Unbounded)).next()?,
        };
        Some((*span, ids.iter().cloned().collect()))
    }

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
