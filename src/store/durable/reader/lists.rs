//! Lists of conversations in a durable store.

use std::ops::Range;

use super::{Reader, unreadable};
use crate::{
    domain::{ConversationId, ConversationKey, Head, Identity, Namespace, RecipientId, Timestamp},
    store::{
        List, ListOf, ListedAt, RecipientKey, Result,
        durable::{
            key_value::Key,
            records::{
                self, ConversationName, Heads, KeyPart, Kind, Listed, Place, RecipientUpdated, Started,
                Updated,
            },
        },
        listing::{Lists, Named},
    },
};

impl Lists for Reader {
    fn started(&self, list: &List, after: Option<&ListedAt>, limit: usize) -> Result<Vec<ListedAt>> {
        match &list.of {
            ListOf::Namespace(namespace) => {
                self.started_in::<_, Started>(namespace, list.order.newest_first, after, limit)
            }
            ListOf::Recipient(recipient) => {
                self.started_in::<_, Listed>(&owner(recipient), list.order.newest_first, after, limit)
            }
        }
    }

    fn updated(
        &self,
        list: &List,
        from: Option<Timestamp>,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        match &list.of {
            ListOf::Namespace(namespace) => {
                self.first_span::<_, Updated>(namespace, list.order.newest_first, from)
            }
            ListOf::Recipient(recipient) => {
                self.first_span::<_, RecipientUpdated>(&owner(recipient), list.order.newest_first, from)
            }
        }
    }

    fn named(&self, list: &List, limit: usize) -> Result<Vec<Named>> {
        let names = records::names_from(list.of.namespace(), &list.id_prefix);
        let named = |record: Result<(ConversationKey, _)>| {
            let (key, identity): (_, Identity) = record?;
            Ok(Named { id: key.id, recipient: identity.recipient, start_time: identity.start_time })
        };
        let listed = |record: &Result<(ConversationKey, Identity), _>| {
            record.as_ref().map_or(true, |(_, identity)| identity.is_listed())
        };
        self.all::<ConversationName>(&names).filter(listed).take(limit).map(named).collect()
    }

    fn update_time(&self, key: &ConversationKey) -> Result<Option<Timestamp>> {
        let Some(lineage) = self.lineage(key)? else { return Ok(None) };
        Ok(self.get::<Heads>(&lineage)?.map(|record| record.head.update_time))
    }

    fn head(&self, key: &ConversationKey) -> Result<Option<Head>> {
        self.consistent(key, Self::listed_head)
    }
}

impl Reader {
    /// Returns at most `limit` entries of a list behind `after`, in the list's order.
    fn started_in<O: KeyPart + Clone, K: Kind<Key = Place<O>>>(
        &self,
        owner: &O,
        newest_first: bool,
        after: Option<&ListedAt>,
        limit: usize,
    ) -> Result<Vec<ListedAt>> {
        let all = records::of_list::<O, K>(owner);
        let last =
            after.cloned().map(|(time, conversation)| Place { owner: owner.clone(), time, conversation });
        let range = match last.map(|last| records::key::<K>(&last)) {
            None => all,
            Some(last) if newest_first => records::descending(all, last),
            Some(last) => records::ascending(all, last),
        };
        self.places::<O, K>(&range, newest_first).take(limit).collect()
    }

    /// Returns the conversations of the first span that is not before `from`, in the list's order.
    fn first_span<O: KeyPart, K: Kind<Key = Place<O>>>(
        &self,
        owner: &O,
        newest_first: bool,
        from: Option<Timestamp>,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        let all = records::of_list::<O, K>(owner);
        // a span's entries sort after the previous microsecond's and before the next one's
        let range = match from.map(|from| records::of_list_at::<O, K>(owner, from)) {
            None => all,
            Some(from) if newest_first => all.start..from.end,
            Some(from) => from.start..all.end,
        };
        let mut places = self.places::<O, K>(&range, newest_first);
        let Some((span, first)) = places.next().transpose()? else { return Ok(None) };
        let mut ids = vec![first];
        for place in places {
            match place? {
                (time, id) if time == span => ids.push(id),
                _ => break,
            }
        }
        Ok(Some((span, ids)))
    }

    /// Returns the entries in a range, in the list's order.
    fn places<'a, O, K: Kind<Key = Place<O>>>(
        &'a self,
        range: &Range<Key>,
        newest_first: bool,
    ) -> Box<dyn Iterator<Item = Result<ListedAt>> + 'a> {
        let keys = records::within(self.pairs(), range).map(|pair| {
            let (key, _) = pair.map_err(unreadable)?;
            let place = records::decode_key::<K>(&key).map_err(unreadable)?;
            Ok((place.time, place.conversation))
        });
        if newest_first { Box::new(keys.rev()) } else { Box::new(keys) }
    }
}

/// The owner of a recipient's lists.
fn owner(recipient: &RecipientKey) -> (Namespace, RecipientId) {
    (recipient.namespace.clone(), recipient.id.clone())
}
