//! Assembles a page of a list from the indexes of a store.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use super::{
    List, ListedAt, Result,
    entries::{Entries, span_of},
};
use utterd_domain::{ConversationId, ConversationKey, Head, Identity, Timestamp, limits::FEW_NAMES};

/// How many index entries to read at a time.
const ENTRIES: usize = 256;

/// The indexes of a store, for lists. A conversation can be changed or removed between the read of its entry
/// and its lookup.
pub(super) trait Lists {
    /// The index entries of the store.
    fn entries(&self) -> impl Deref<Target: Entries>;

    /// Returns at most `limit` conversations of the namespace whose ids have the list's prefix.
    fn named(&self, list: &List, limit: usize) -> Result<Vec<Arc<Identity>>>;

    /// Returns the time of a conversation's last change; `None` if the conversation does not exist.
    fn update_time(&self, key: &ConversationKey) -> Result<Option<Timestamp>>;

    /// Returns a conversation's head; `None` if the conversation does not exist.
    fn head(&self, key: &ConversationKey) -> Result<Option<Head>>;
}

/// Returns the heads of a page.
pub(super) fn page(list: &List, lists: &impl Lists) -> Result<Vec<Head>> {
    let mut page = Page { list, lists, heads: Vec::new() };
    match few_named(list, lists)? {
        Some(named) => page.of_named(named)?,
        None if list.order.by_update => page.by_update()?,
        None => page.by_start()?,
    }
    let order = list.order;
    page.heads.sort_by_cached_key(|head| order.place(head));
    if order.newest_first {
        page.heads.reverse();
    }
    Ok(page.heads)
}

/// Returns the conversations whose ids have the list's prefix; `None` if there are many, or no prefix.
fn few_named(list: &List, lists: &impl Lists) -> Result<Option<Vec<Arc<Identity>>>> {
    if list.id_prefix.is_empty() {
        return Ok(None);
    }
    let named = lists.named(list, FEW_NAMES + 1)?;
    Ok((named.len() <= FEW_NAMES).then_some(named))
}

struct Page<'a, L> {
    list: &'a List,
    lists: &'a L,
    heads: Vec<Head>,
}

impl<L: Lists> Page<'_, L> {
    /// Adds conversations from a small set.
    fn of_named(&mut self, named: Vec<Arc<Identity>>) -> Result<()> {
        let mut places = Vec::new();
        for identity in named.iter().filter(|identity| self.list.of.has(&identity.recipient)) {
            let time = match self.list.order.by_update {
                true => self.lists.update_time(&identity.key)?,
                false => Some(identity.start_time),
            };
            places.extend(time.map(|time| (time, identity.key.id.clone())));
        }
        self.add_all(places, None)
    }

    fn by_start(&mut self) -> Result<()> {
        let mut after = self.list.after.clone();
        while !self.is_full() {
            let places = self.lists.entries().started(self.list, after.as_ref(), ENTRIES)?;
            let Some(last) = places.last() else { break };
            after = Some(last.clone());
            for place in places {
                if !self.is_wanted(&place.1) {
                    continue;
                }
                let head = self.lists.head(&self.list.of.key(place.1.clone()))?;
                // another conversation with the same id may have started since
                self.heads.extend(head.filter(|head| self.list.order.place(head) == place));
                if self.is_full() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn by_update(&mut self) -> Result<()> {
        let mut from = self.list.after.as_ref().map(|(time, _)| span_of(*time));
        while !self.is_full() {
            let Some((span, ids)) = self.lists.entries().updated(self.list, from)? else { break };
            let mut places = Vec::new();
            for id in ids.into_iter().filter(|id| self.is_wanted(id)) {
                let time = self.lists.update_time(&self.list.of.key(id.clone()))?;
                // a conversation that was changed since is in another span
                places.extend(time.filter(|time| span_of(*time) == span).map(|time| (time, id)));
            }
            self.add_all(places, Some(span))?;
            from = Some(Timestamp(match self.list.order.newest_first {
                true => span.0.saturating_sub(1),
                false => span.0.saturating_add(1),
            }));
        }
        Ok(())
    }

    /// Adds the conversations behind the previous page, in order, while there is room. A conversation that
    /// changes between the two reads is added at its new place: before the others if the newest come first;
    /// otherwise later in this span, or with a later span.
    fn add_all(&mut self, places: Vec<ListedAt>, span: Option<Timestamp>) -> Result<()> {
        let order = self.list.order;
        let mut open: BTreeMap<ListedAt, Option<Head>> =
            places.into_iter().map(|place| (place, None)).collect();
        while !self.is_full()
            && let Some((place, known)) = if order.newest_first { open.pop_last() } else { open.pop_first() }
        {
            if !self.is_behind(&place) {
                continue;
            }
            let Some(head) = self.known_or_read(known, &place)? else { continue };
            let now = order.place(&head);
            match now == place || order.newest_first {
                true => self.heads.push(head),
                false if span.is_none_or(|span| span_of(now.0) == span) => drop(open.insert(now, Some(head))),
                false => {}
            }
        }
        Ok(())
    }

    fn known_or_read(&self, known: Option<Head>, place: &ListedAt) -> Result<Option<Head>> {
        match known {
            Some(head) => Ok(Some(head)),
            None => self.lists.head(&self.list.of.key(place.1.clone())),
        }
    }

    fn is_behind(&self, place: &ListedAt) -> bool {
        self.list.after.as_ref().is_none_or(|after| self.list.order.is_behind(place, after))
    }

    fn is_wanted(&self, id: &ConversationId) -> bool {
        id.as_str().starts_with(&*self.list.id_prefix)
    }

    fn is_full(&self) -> bool {
        self.heads.len() >= self.list.limit
    }
}
