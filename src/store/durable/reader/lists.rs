//! Lists of conversations in a durable store.

use std::ops::Range;

use super::{Reader, unreadable};
use crate::{
    domain::{ConversationId, ConversationKey, Head, Identity, Timestamp},
    store::{
        List, ListOf, ListedAt, Result,
        durable::{
            key_value::Key,
            records::{
                self, ConversationName, Heads, Kind, ListPlace, Listed, NamespacePlace, RecipientUpdated,
                Started, Updated,
            },
        },
        listing::{Lists, Named},
    },
};

impl Lists for Reader {
    fn started(&self, list: &List, after: Option<&ListedAt>, limit: usize) -> Result<Vec<ListedAt>> {
        match &list.of {
            ListOf::Namespace(namespace) => {
                let behind = after.map(|at| records::key::<Started>(&in_namespace(list, at)));
                let range = range(records::of_namespace::<Started>(namespace), list, behind);
                self.places::<Started>(&range, list).take(limit).collect()
            }
            ListOf::Recipient(recipient) => {
                let behind = after.map(|at| records::key::<Listed>(&in_recipients(recipient, at)));
                let range = range(records::of_recipient::<Listed>(recipient), list, behind);
                self.places::<Listed>(&range, list).take(limit).collect()
            }
        }
    }

    fn updated(
        &self,
        list: &List,
        from: Option<Timestamp>,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        // a span's entries sort after the previous microsecond's and before the next one's
        match &list.of {
            ListOf::Namespace(namespace) => {
                let all = records::of_namespace::<Updated>(namespace);
                let at = from.map(|time| records::namespace_time::<Updated>(namespace, time));
                self.first_span::<Updated>(&spans(all, list, at), list)
            }
            ListOf::Recipient(recipient) => {
                let all = records::of_recipient::<RecipientUpdated>(recipient);
                let at = from.map(|time| records::recipient_time::<RecipientUpdated>(recipient, time));
                self.first_span::<RecipientUpdated>(&spans(all, list, at), list)
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
    /// Returns the entries of a list, in its order.
    fn places<'a, K: Kind<Key: Placed>>(
        &'a self,
        range: &Range<Key>,
        list: &List,
    ) -> Box<dyn Iterator<Item = Result<ListedAt>> + 'a> {
        let keys = records::within(self.pairs(), range).map(|pair| {
            let (key, _) = pair.map_err(unreadable)?;
            records::decode_key::<K>(&key).map(Placed::place).map_err(unreadable)
        });
        if list.order.newest_first { Box::new(keys.rev()) } else { Box::new(keys) }
    }

    /// Returns the conversations of a range's first span.
    fn first_span<K: Kind<Key: Placed>>(
        &self,
        range: &Range<Key>,
        list: &List,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        let mut places = self.places::<K>(range, list);
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
}

/// A key of a list entry.
trait Placed {
    fn place(self) -> ListedAt;
}

impl Placed for NamespacePlace {
    fn place(self) -> ListedAt {
        (self.time, self.conversation)
    }
}

impl Placed for ListPlace {
    fn place(self) -> ListedAt {
        (self.time, self.conversation)
    }
}

fn in_namespace(list: &List, (time, conversation): &ListedAt) -> NamespacePlace {
    let namespace = list.of.namespace().clone();
    NamespacePlace { namespace, time: *time, conversation: conversation.clone() }
}

fn in_recipients(recipient: &crate::store::RecipientKey, (time, conversation): &ListedAt) -> ListPlace {
    ListPlace { recipient: recipient.clone(), time: *time, conversation: conversation.clone() }
}

/// The keys after an entry of the list, in list order.
fn range(all: Range<Key>, list: &List, behind: Option<Key>) -> Range<Key> {
    match behind {
        None => all,
        Some(last) if list.order.newest_first => records::descending(all, last),
        Some(last) => records::ascending(all, last),
    }
}

/// The keys of the list from a span on, in list order.
fn spans(all: Range<Key>, list: &List, from: Option<Range<Key>>) -> Range<Key> {
    match from {
        None => all,
        Some(from) if list.order.newest_first => all.start..from.end,
        Some(from) => from.start..all.end,
    }
}
