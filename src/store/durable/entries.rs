//! The index entries of a conversation, in lists and among due and waiting work.

use super::{
    key_value::{Key, Value},
    records::{
        self, Dues, Ended, Kind, Listed, OutcomeAges, Place, RecipientUpdated, Started, Updated, Waiting,
    },
};
use crate::{
    domain::{Head, Identity, Timestamp},
    store::{Due, listing::span_of},
};

/// The kinds of index entries, with their names: only keys, each derived from other records.
pub(super) const KINDS: [(u8, &str); 8] = [
    (Listed::NUMBER, Listed::NAME),
    (OutcomeAges::NUMBER, OutcomeAges::NAME),
    (Dues::NUMBER, Dues::NAME),
    (Ended::NUMBER, Ended::NAME),
    (Waiting::NUMBER, Waiting::NAME),
    (Started::NUMBER, Started::NAME),
    (Updated::NUMBER, Updated::NAME),
    (RecipientUpdated::NUMBER, RecipientUpdated::NAME),
];

/// The times in a conversation's index entries, apart from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moments {
    /// The span of the last change.
    updated: Timestamp,
    ended: Option<Timestamp>,
    expires: Option<Timestamp>,
    /// The time since which the conversation has been waiting for a model.
    waits: Option<Timestamp>,
}

impl Moments {
    /// The times of a conversation that has been waiting for a model since `waits`.
    pub(super) fn of(head: &Head, waits: Option<Timestamp>) -> Self {
        Self {
            updated: span_of(head.update_time),
            ended: head.ended.as_ref().map(|ending| ending.time),
            expires: head.expire_time(),
            waits,
        }
    }

    /// Whether the conversation has ended, expires, or waits for a model.
    pub(super) fn are_any(&self) -> bool {
        [self.ended, self.expires, self.waits].iter().any(Option::is_some)
    }
}

/// Returns the entries of a conversation; none for a recipient's own state.
pub(super) fn entries(identity: &Identity, moments: &Moments) -> Vec<(Key, Value)> {
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
