//! The index entries of a conversation, in lists and among due and waiting work: which ones it has, and how a
//! list is read from them. The durable stores and the memory store have the same entries.

use std::ops::Range;

use super::{Due, List, ListOf, ListedAt, RecipientKey, Result, Write};
use crate::records::{
    self, Dues, Ended, Key, KeyPart, Kind, Listed, OutcomeAges, Place, RecipientUpdated, Started, Updated,
    Value, Waiting,
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Namespace, RecipientId, Timestamp, limits::UPDATE_SPAN,
};

/// The kinds of index entries: only keys, each derived from other records.
pub(super) const KINDS: [u8; 8] = [
    Listed::NUMBER,
    OutcomeAges::NUMBER,
    Dues::NUMBER,
    Ended::NUMBER,
    Waiting::NUMBER,
    Started::NUMBER,
    Updated::NUMBER,
    RecipientUpdated::NUMBER,
];

/// The times in a conversation's index entries, apart from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moments {
    /// The span of the last change.
    updated: Timestamp,
    ended: Option<Timestamp>,
    expires: Option<Timestamp>,
    /// The time since which the conversation has been waiting for a model.
    waits: Option<Timestamp>,
}

impl Moments {
    fn of(state: &Conversation) -> Self {
        let head = &state.head;
        Self {
            updated: span_of(head.update_time),
            ended: head.ended.as_ref().map(|ending| ending.time),
            expires: head.expire_time(),
            waits: state.awaits_since(),
        }
    }
}

/// Returns the start of the span of time under which the index by update lists a conversation.
pub(super) fn span_of(update_time: Timestamp) -> Timestamp {
    let span = UPDATE_SPAN.as_micros() as i64;
    Timestamp(update_time.0.div_euclid(span).saturating_mul(span))
}

/// Returns the entries of a conversation; none for a recipient's own state.
pub(super) fn of(state: &Conversation) -> Vec<(Key, Value)> {
    let (identity, moments) = (&state.head.identity, Moments::of(state));
    if !identity.is_listed() {
        return Vec::new();
    }
    let key = || identity.key.clone();
    let (namespace, conversation) = (&identity.key.namespace, &identity.key.id);
    let owner = (namespace.clone(), identity.recipient.clone());
    let listed = |time| Place { owner: owner.clone(), time, conversation: conversation.clone() };
    let named = |time| Place { owner: namespace.clone(), time, conversation: conversation.clone() };
    let mut entries = vec![
        entry::<Listed>(&listed(identity.start_time)),
        entry::<Started>(&named(identity.start_time)),
        entry::<Updated>(&named(moments.updated)),
        entry::<RecipientUpdated>(&listed(moments.updated)),
    ];
    entries.extend(moments.ended.map(|time| entry::<Ended>(&listed(time))));
    entries.extend(moments.expires.map(|time| entry::<Dues>(&(time, Due::Expired(key())))));
    entries.extend(moments.waits.map(|time| entry::<Waiting>(&(time, key()))));
    entries
}

fn entry<K: Kind<Value = ()>>(key: &K::Key) -> (Key, Value) {
    records::pair::<K>(key, &())
}

/// Whether a write changes the entries of its conversation.
pub(super) fn are_changed_by(write: &Write) -> bool {
    let [was, is] = [write.before(), write.after()].map(|state| state.map(|state| Moments::of(state)));
    was != is
}

/// The entries that a write removes, and those that it adds.
pub(super) fn changed_by(write: &Write) -> (Vec<Key>, Vec<(Key, Value)>) {
    if !are_changed_by(write) {
        return (Vec::new(), Vec::new());
    }
    let [was, is] =
        [write.before(), write.after()].map(|state| state.map_or_else(Vec::new, |state| of(state)));
    let removed = was.iter().filter(|entry| !is.contains(entry)).map(|(key, _)| key.clone()).collect();
    let added = is.into_iter().filter(|entry| !was.contains(entry)).collect();
    (removed, added)
}

/// The entries of a store, from which it reads its lists and its work.
pub(super) trait Entries {
    /// Returns the entries of a kind in a range of keys, ascending.
    fn among<'a, K: Kind>(
        &'a self,
        range: &Range<Key>,
    ) -> Box<dyn DoubleEndedIterator<Item = Result<K::Key>> + 'a>;

    /// Returns at most `limit` places behind `after` in the index by start, in the list's order.
    fn started(&self, list: &List, after: Option<&ListedAt>, limit: usize) -> Result<Vec<ListedAt>> {
        match &list.of {
            ListOf::Namespace(namespace) => {
                started_in::<_, Started>(self, namespace.clone(), list, after, limit)
            }
            ListOf::Recipient(recipient) => {
                started_in::<_, Listed>(self, owner(recipient), list, after, limit)
            }
        }
    }

    /// Returns the first [span](span_of) in the index by update, in the list's order, that is not before
    /// `from`, and the conversations in it.
    fn updated(
        &self,
        list: &List,
        from: Option<Timestamp>,
    ) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
        match &list.of {
            ListOf::Namespace(namespace) => first_span::<_, Updated>(self, namespace, list, from),
            ListOf::Recipient(recipient) => {
                first_span::<_, RecipientUpdated>(self, &owner(recipient), list, from)
            }
        }
    }

    /// See [`Store::newest_keys`](super::Store::newest_keys).
    fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        let list = List::newest(recipient, limit);
        let places = self.started(&list, None, limit)?;
        Ok(places.into_iter().map(|(_, id)| list.of.key(id)).collect())
    }

    /// See [`Store::ended_beyond`](super::Store::ended_beyond).
    fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        let ended = || self.among::<Ended>(&records::of_list::<_, Ended>(&owner(recipient)));
        let beyond = ended().count().saturating_sub(keep).min(limit);
        ended().take(beyond).map(|place| Ok(place?.conversation)).collect()
    }

    /// See [`Store::due`](super::Store::due).
    fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.among::<Dues>(&records::dues_up_to(now)).take(limit).map(|due| Ok(due?.1)).collect()
    }

    /// See [`Store::waiting`](super::Store::waiting).
    fn waiting(
        &self,
        after: Option<&(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.among::<Waiting>(&records::waiting_behind(after)).take(limit).collect()
    }
}

/// Returns at most `limit` entries of a list behind `after`, in the list's order.
fn started_in<O: KeyPart, K: Kind<Key = Place<O>>>(
    entries: &(impl Entries + ?Sized),
    owner: O,
    list: &List,
    after: Option<&ListedAt>,
    limit: usize,
) -> Result<Vec<ListedAt>> {
    let all = records::of_list::<O, K>(&owner);
    let last = after.cloned().map(|(time, conversation)| Place { owner, time, conversation });
    let range = match last.map(|last| records::key::<K>(&last)) {
        None => all,
        Some(last) if list.order.newest_first => records::descending(all, last),
        Some(last) => records::ascending(all, last),
    };
    places::<O, K>(entries, list, &range).take(limit).collect()
}

/// Returns the conversations of the first span that is not before `from`, in the list's order.
fn first_span<O: KeyPart, K: Kind<Key = Place<O>>>(
    entries: &(impl Entries + ?Sized),
    owner: &O,
    list: &List,
    from: Option<Timestamp>,
) -> Result<Option<(Timestamp, Vec<ConversationId>)>> {
    let all = records::of_list::<O, K>(owner);
    // a span's entries sort after the previous microsecond's and before the next one's
    let range = match from.map(|from| records::of_list_at::<O, K>(owner, from)) {
        None => all,
        Some(from) if list.order.newest_first => all.start..from.end,
        Some(from) => from.start..all.end,
    };
    let mut places = places::<O, K>(entries, list, &range);
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
fn places<'a, O: 'a, K: Kind<Key = Place<O>>>(
    entries: &'a (impl Entries + ?Sized),
    list: &List,
    range: &Range<Key>,
) -> Box<dyn Iterator<Item = Result<ListedAt>> + 'a> {
    let places = entries.among::<K>(range).map(|place| place.map(|place| (place.time, place.conversation)));
    if list.order.newest_first { Box::new(places.rev()) } else { Box::new(places) }
}

/// The owner of a recipient's lists.
fn owner(recipient: &RecipientKey) -> (Namespace, RecipientId) {
    (recipient.namespace.clone(), recipient.id.clone())
}
