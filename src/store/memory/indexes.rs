//! The indexes of the memory store: active conversations, lists, outcomes, expiries, waiting conversations,
//! and the readers of frozen lineages.

use std::{
    collections::hash_map::Entry,
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::Hash,
    sync::Arc,
};

use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Head, LineageId, RecipientId, Sequence, Timestamp,
        Trunk,
    },
    store::{
        Commit, Conflict, ListOf, ListedAt, Outcome, OutcomeKey, PointerWrite, RecipientKey, Write,
        listing::span_of,
    },
};

#[derive(Default)]
pub(super) struct Indexes {
    pub(super) active: HashMap<RecipientKey, ConversationId>,
    pub(super) by_start: HashMap<ListOf, BTreeSet<ListedAt>>,
    /// By the span of the last change.
    pub(super) by_update: HashMap<ListOf, BTreeMap<Timestamp, BTreeSet<ConversationId>>>,
    /// By id, with the recipient and the start.
    pub(super) by_name: BTreeMap<ConversationKey, (RecipientId, Timestamp)>,
    /// By end time.
    pub(super) ended: HashMap<RecipientKey, BTreeSet<(Timestamp, ConversationId)>>,
    pub(super) outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
    outcome_ages: BTreeSet<(Timestamp, OutcomeKey)>,
    pub(super) expiries: BTreeSet<(Timestamp, ConversationKey)>,
    /// By the time since which a segment has been waiting for a model.
    pub(super) waiting: BTreeSet<(Timestamp, ConversationKey)>,
    /// For each frozen lineage, the last sequence that each conversation reads in it: 0 if it has only copies.
    readers: HashMap<LineageId, BTreeMap<ConversationKey, Sequence>>,
}

impl Indexes {
    pub(super) fn check(&self, commit: &Commit) -> Result<(), Conflict> {
        let moved = |pointer: &&PointerWrite| self.active.get(&pointer.recipient) != pointer.before.as_ref();
        if let Some(pointer) = commit.pointers.iter().find(moved) {
            return Err(Conflict::Pointer(pointer.recipient.clone()));
        }
        match commit.outcomes.iter().find(|(key, _)| self.outcomes.contains_key(key)) {
            Some((key, _)) => Err(Conflict::Outcome(key.clone())),
            None => Ok(()),
        }
    }

    pub(super) fn write(&mut self, write: &Write) {
        if write.key().id.is_of_state() {
            return;
        }
        let (before, after) = (write.before(), write.after());
        if let Some(expiry) = before.and_then(|state| expiry(&state.head)) {
            self.expiries.remove(&expiry);
        }
        if let Some(expiry) = after.and_then(|state| expiry(&state.head)) {
            self.expiries.insert(expiry);
        }
        if let Some(wait) = before.and_then(wait) {
            self.waiting.remove(&wait);
        }
        if let Some(wait) = after.and_then(wait) {
            self.waiting.insert(wait);
        }
        self.read(write);
        let (was_ended, is_ended) =
            (before.and_then(|state| ending(&state.head)), after.and_then(|state| ending(&state.head)));
        if was_ended != is_ended {
            was_ended.into_iter().for_each(|(recipient, end)| remove(&mut self.ended, &recipient, &end));
            is_ended.into_iter().for_each(|(recipient, end)| {
                self.ended.entry(recipient).or_default().insert(end);
            });
        }
        self.list(before.map(|state| &state.head), after.map(|state| &state.head));
    }

    /// Updates the entries of a conversation in the lists.
    fn list(&mut self, before: Option<&Head>, after: Option<&Head>) {
        if before.map(spanned) != after.map(spanned) {
            before.into_iter().for_each(|head| self.remove_updated(head));
            for (head, of) in after.into_iter().flat_map(|head| lists(head).map(|of| (head, of))) {
                let spans = self.by_update.entry(of).or_default();
                spans.entry(spanned(head)).or_default().insert(head.identity.key.id.clone());
            }
        }
        match (before, after) {
            (None, Some(head)) => {
                let identity = &head.identity;
                lists(head).into_iter().for_each(|of| {
                    self.by_start.entry(of).or_default().insert(place(head));
                });
                let listed = (identity.recipient.clone(), identity.start_time);
                self.by_name.insert(identity.key.clone(), listed);
            }
            (Some(head), None) => {
                lists(head).iter().for_each(|of| remove(&mut self.by_start, of, &place(head)));
                self.by_name.remove(&head.identity.key);
            }
            _ => {}
        }
    }

    fn remove_updated(&mut self, head: &Head) {
        for of in lists(head) {
            let Some(spans) = self.by_update.get_mut(&of) else { continue };
            if let Some(ids) = spans.get_mut(&spanned(head)) {
                ids.remove(&head.identity.key.id);
                if ids.is_empty() {
                    spans.remove(&spanned(head));
                }
            }
            if spans.is_empty() {
                self.by_update.remove(&of);
            }
        }
    }

    fn read(&mut self, write: &Write) {
        let trunks = |state: Option<&Arc<Conversation>>| {
            state.map_or_else(Arc::default, |state| state.head.trunks.clone())
        };
        let (before, after) = (trunks(write.before()), trunks(write.after()));
        if before == after {
            return;
        }
        for trunk in before.iter() {
            if let Entry::Occupied(mut readers) = self.readers.entry(trunk.lineage) {
                readers.get_mut().remove(write.key());
                if readers.get().is_empty() {
                    readers.remove();
                }
            }
        }
        for Trunk { lineage, through } in after.iter().copied() {
            self.readers.entry(lineage).or_default().insert(write.key().clone(), through);
        }
    }

    /// Returns the other conversations that read one of these lineages, or have copies of its utterances,
    /// each with the last sequence that both read.
    pub(super) fn sharing(
        &self,
        key: &ConversationKey,
        lineages: impl Iterator<Item = (LineageId, Sequence)>,
    ) -> BTreeMap<ConversationKey, Sequence> {
        let mut shared = BTreeMap::new();
        for (lineage, read) in lineages {
            let readers = self.readers.get(&lineage).into_iter().flatten();
            for (other, through) in readers.filter(|(other, _)| *other != key) {
                let last = shared.entry(other.clone()).or_insert(Sequence(0));
                *last = read.min(*through).max(*last);
            }
        }
        shared
    }

    pub(super) fn apply(&mut self, commit: &Commit) {
        for pointer in commit.pointers.iter().filter(|pointer| pointer.before != pointer.after) {
            match &pointer.after {
                Some(id) => self.active.insert(pointer.recipient.clone(), id.clone()),
                None => self.active.remove(&pointer.recipient),
            };
        }
        for (key, outcome) in &commit.outcomes {
            self.outcomes.insert(key.clone(), outcome.clone());
            self.outcome_ages.insert((outcome.time, key.clone()));
        }
    }

    /// Removes the outcomes older than `oldest`; returns their number and size in bytes.
    pub(super) fn remove_outcomes(&mut self, oldest: Timestamp) -> (u64, u64) {
        let (mut removed, mut bytes) = (0, 0);
        while self.outcome_ages.first().is_some_and(|(time, _)| *time < oldest) {
            let Some((_, key)) = self.outcome_ages.pop_first() else { break };
            if let Some(outcome) = self.outcomes.get(&key).filter(|outcome| outcome.time < oldest) {
                bytes += outcome.memory_bytes(&key) as u64;
                self.outcomes.remove(&key);
                removed += 1;
            }
        }
        (removed, bytes)
    }
}

/// Removes an entry from a set, and the set if that leaves it empty.
fn remove<K: Eq + Hash, T: Ord>(sets: &mut HashMap<K, BTreeSet<T>>, of: &K, entry: &T) {
    if let Some(set) = sets.get_mut(of) {
        set.remove(entry);
        if set.is_empty() {
            sets.remove(of);
        }
    }
}

fn ending(head: &Head) -> Option<(RecipientKey, (Timestamp, ConversationId))> {
    let ended = head.ended.as_ref()?;
    Some((RecipientKey::of(&head.identity), (ended.time, head.identity.key.id.clone())))
}

fn expiry(head: &Head) -> Option<(Timestamp, ConversationKey)> {
    head.expire_time().map(|time| (time, head.identity.key.clone()))
}

fn wait(state: &Arc<Conversation>) -> Option<(Timestamp, ConversationKey)> {
    state.awaits_since().map(|since| (since, state.key().clone()))
}

/// Returns the lists that contain a conversation.
fn lists(head: &Head) -> [ListOf; 2] {
    let recipient = RecipientKey::of(&head.identity);
    [ListOf::Namespace(recipient.namespace.clone()), ListOf::Recipient(recipient)]
}

fn place(head: &Head) -> ListedAt {
    (head.identity.start_time, head.identity.key.id.clone())
}

/// The span of a conversation's last change.
pub(super) fn spanned(head: &Head) -> Timestamp {
    span_of(head.update_time)
}
