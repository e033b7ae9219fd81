//! The memory store: conversations in a concurrent map, bounded in bytes.
//!
//! A conversation's state is kept as it is published, so its window is stored once. Locks are
//! taken in one order: conversations by ascending key, then the indexes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dashmap::DashMap;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use super::{
    BoxFuture, Capabilities, Commit, CommitError, Due, Outcome, OutcomeKey, Page, PointerWrite, RecipientKey,
    Store, StoreError, Write,
};
use crate::domain::{
    Change, Conversation, ConversationId, ConversationKey, Head, Ranges, Revision, Sequence, Timestamp,
    Utterance,
};

/// Keeps everything in memory; nothing survives the process.
pub struct MemoryStore {
    conversations: DashMap<ConversationKey, Arc<Mutex<Slot>>>,
    indexes: Mutex<Indexes>,
    used: AtomicU64,
    limit: u64,
}

#[derive(Default)]
struct Slot {
    state: Option<Arc<Conversation>>,
    archive: BTreeMap<Sequence, Arc<Utterance>>,
    archived_ids: HashMap<Box<str>, Sequence>,
    bytes: u64,
    /// The slot is no longer in the map: whoever holds it looks it up anew.
    removed: bool,
}

/// Orders conversations by descending start time, then id.
type NewestFirst = (Reverse<Timestamp>, Reverse<ConversationId>);

#[derive(Default)]
struct Indexes {
    active: HashMap<RecipientKey, ConversationId>,
    by_recipient: HashMap<RecipientKey, BTreeSet<NewestFirst>>,
    outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
    outcome_ages: VecDeque<(Timestamp, OutcomeKey)>,
    expiries: BTreeSet<(Timestamp, ConversationKey)>,
}

impl MemoryStore {
    /// An empty store that takes at most about `limit` bytes; 0 is unlimited.
    pub fn new(limit: u64) -> Self {
        Self {
            conversations: DashMap::new(),
            indexes: Mutex::default(),
            used: AtomicU64::new(0),
            limit: if limit == 0 { u64::MAX } else { limit },
        }
    }

    /// About how many bytes are taken.
    pub fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn apply(&self, commit: &Commit) -> Result<(), CommitError> {
        loop {
            let order = write_order(commit);
            let slots: Few<_> = order.iter().map(|write| self.slot(write.key())).collect();
            let mut guards: Few<_> = slots.iter().map(|slot| slot.lock()).collect();
            if guards.iter().any(|slot| slot.removed) {
                continue;
            }
            let result = self.apply_locked(commit, &order, &mut guards);
            self.tidy(&order, &mut guards);
            return result;
        }
    }

    fn slot(&self, key: &ConversationKey) -> Arc<Mutex<Slot>> {
        if let Some(slot) = self.conversations.get(key) {
            return slot.clone();
        }
        self.conversations.entry(key.clone()).or_default().clone()
    }

    fn apply_locked(
        &self,
        commit: &Commit,
        order: &[&Write],
        slots: &mut [MutexGuard<'_, Slot>],
    ) -> Result<(), CommitError> {
        if order.iter().zip(slots.iter()).any(|(write, slot)| slot.revision() != write.before()) {
            return Err(CommitError::Conflict);
        }
        let indexed = !commit.pointers.is_empty()
            || !commit.outcomes.is_empty()
            || order.iter().zip(slots.iter()).any(|(write, slot)| write.changes_indexes(slot));
        let mut indexes = indexed.then(|| self.indexes.lock());
        if let Some(indexes) = &indexes {
            indexes.check(commit)?;
        }
        self.make_room(order, slots)?;
        for (write, slot) in order.iter().zip(slots.iter_mut()) {
            if let Some(indexes) = &mut indexes {
                indexes.write(write, slot.state.as_deref());
            }
            slot.write(write);
        }
        if let Some(indexes) = &mut indexes {
            indexes.apply(commit);
        }
        Ok(())
    }

    /// Takes the bytes that the writes add, or gives back what they free.
    fn make_room(&self, order: &[&Write], slots: &[MutexGuard<'_, Slot>]) -> Result<(), StoreError> {
        let delta: i64 = order.iter().zip(slots).map(|(write, slot)| slot.delta(write)).sum();
        let Ok(added) = u64::try_from(delta) else {
            self.used.fetch_sub(delta.unsigned_abs(), Ordering::Relaxed);
            return Ok(());
        };
        let used = self.used.fetch_add(added, Ordering::Relaxed);
        if added > 0 && used + added > self.limit {
            self.used.fetch_sub(added, Ordering::Relaxed);
            return Err(StoreError::Full { used, limit: self.limit, added });
        }
        Ok(())
    }

    /// Takes slots without a conversation out of the map.
    fn tidy(&self, order: &[&Write], slots: &mut [MutexGuard<'_, Slot>]) {
        for (write, slot) in order.iter().zip(slots) {
            if slot.state.is_none() {
                slot.removed = true;
                self.conversations.remove(write.key());
            }
        }
    }

    fn with_slot<T: Default>(&self, key: &ConversationKey, read: impl FnOnce(&Slot) -> T) -> T {
        let slot = self.conversations.get(key).map(|slot| slot.clone());
        slot.map_or_else(T::default, |slot| read(&slot.lock()))
    }
}

/// Most commits are of one conversation.
type Few<T> = SmallVec<[T; 1]>;

/// The writes in the order of their keys, which is the order that locks are taken in.
fn write_order(commit: &Commit) -> Few<&Write> {
    let mut writes: Few<_> = commit.writes.iter().collect();
    writes.sort_by(|one, other| one.key().cmp(other.key()));
    writes
}

impl Write {
    fn key(&self) -> &ConversationKey {
        match self {
            Self::Change { change, .. } => &change.head.identity.key,
            Self::Delete { key, .. } => key,
        }
    }

    fn before(&self) -> Revision {
        match self {
            Self::Change { change, .. } => change.before,
            Self::Delete { before, .. } => *before,
        }
    }

    fn changes_indexes(&self, slot: &Slot) -> bool {
        match self {
            Self::Delete { .. } => true,
            Self::Change { change, .. } => {
                let before = slot.state.as_ref().and_then(|state| state.head.expire_time());
                change.before == Revision::NONE || before != change.head.expire_time()
            }
        }
    }
}

/// Bytes that an utterance takes beyond its text: the record, its pointer, the allocator.
const UTTERANCE_BYTES: usize = size_of::<Utterance>() + 48;
/// Bytes that a conversation takes beyond its utterances and labels.
const CONVERSATION_BYTES: usize = 2_048;

fn bytes(utterance: &Utterance) -> i64 {
    (UTTERANCE_BYTES + utterance.text_bytes()) as i64
}

fn head_bytes(head: &Head) -> i64 {
    let labels: usize = head.labels.iter().map(|(key, value)| key.len() + value.len() + 48).sum();
    (CONVERSATION_BYTES + labels + head.title.as_ref().map_or(0, |title| title.len())) as i64
}

impl Slot {
    fn revision(&self) -> Revision {
        self.state.as_ref().map_or(Revision::NONE, |state| state.head.revision)
    }

    fn stored(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        let window = self.state.as_ref().and_then(|state| state.window.get(sequence));
        window.or_else(|| self.archive.get(&sequence))
    }

    fn delta(&self, write: &Write) -> i64 {
        let Write::Change { change, .. } = write else { return -(self.bytes as i64) };
        let appended = change.appended.iter().map(|utterance| bytes(utterance)).sum::<i64>();
        let unkept = |utterance: &&Arc<Utterance>| change.dropped.contains(utterance.sequence);
        let unkept = change.appended.iter().filter(unkept).map(|utterance| bytes(utterance)).sum::<i64>();
        let rewritten = change.rewritten.iter().map(|utterance| self.growth(utterance)).sum::<i64>();
        let gone = self.bytes_of(&change.erased) + self.bytes_of(&change.dropped);
        let before = self.state.as_ref().map_or(0, |state| head_bytes(&state.head));
        appended - unkept + rewritten - gone + head_bytes(&change.head) - before
    }

    fn growth(&self, utterance: &Utterance) -> i64 {
        let before = self.stored(utterance.sequence);
        before.map_or(0, |before| bytes(utterance) - bytes(before))
    }

    fn bytes_of(&self, sequences: &Ranges) -> i64 {
        sequences.sequences().filter_map(|sequence| self.stored(sequence)).map(|u| bytes(u)).sum()
    }

    fn write(&mut self, write: &Write) {
        let bytes = self.bytes as i64 + self.delta(write);
        self.bytes = u64::try_from(bytes).unwrap_or(0);
        match write {
            Write::Change { change, after } => {
                self.archive(change);
                self.state = Some(after.clone());
            }
            Write::Delete { .. } => *self = Self::default(),
        }
    }

    fn archive(&mut self, change: &Change) {
        for utterance in &change.evicted {
            self.keep(utterance);
        }
        for utterance in &change.rewritten {
            if self.archive.contains_key(&utterance.sequence) {
                self.keep(utterance);
            }
        }
        for sequence in change.dropped.sequences().chain(change.erased.sequences()) {
            let gone = self.archive.remove(&sequence);
            if let Some(id) = gone.as_ref().and_then(|utterance| utterance.given_id()) {
                self.archived_ids.remove(id);
            }
        }
    }

    fn keep(&mut self, utterance: &Arc<Utterance>) {
        if let Some(id) = utterance.given_id() {
            self.archived_ids.insert(id.into(), utterance.sequence);
        }
        self.archive.insert(utterance.sequence, utterance.clone());
    }
}

impl Indexes {
    fn check(&self, commit: &Commit) -> Result<(), CommitError> {
        let moved = |pointer: &PointerWrite| self.active.get(&pointer.recipient) != pointer.before.as_ref();
        let kept = |key: &OutcomeKey| self.outcomes.contains_key(key);
        match commit.pointers.iter().any(moved) || commit.outcomes.iter().any(|(key, _)| kept(key)) {
            true => Err(CommitError::Conflict),
            false => Ok(()),
        }
    }

    fn write(&mut self, write: &Write, before: Option<&Conversation>) {
        if let Some(before) = before.map(|before| &before.head)
            && let Some(time) = before.expire_time()
        {
            self.expiries.remove(&(time, before.identity.key.clone()));
        }
        match (write, before) {
            (Write::Change { change, .. }, _) => {
                let head = &change.head;
                if let Some(time) = head.expire_time() {
                    self.expiries.insert((time, head.identity.key.clone()));
                }
                if change.before == Revision::NONE {
                    self.by_recipient.entry(recipient(head)).or_default().insert(place(head));
                }
            }
            (Write::Delete { .. }, Some(before)) => self.unlist(&before.head),
            (Write::Delete { .. }, None) => {}
        }
    }

    fn unlist(&mut self, head: &Head) {
        let recipient = recipient(head);
        if let Some(listed) = self.by_recipient.get_mut(&recipient) {
            listed.remove(&place(head));
            if listed.is_empty() {
                self.by_recipient.remove(&recipient);
            }
        }
    }

    fn apply(&mut self, commit: &Commit) {
        for pointer in &commit.pointers {
            match &pointer.after {
                Some(id) => self.active.insert(pointer.recipient.clone(), id.clone()),
                None => self.active.remove(&pointer.recipient),
            };
        }
        for (key, outcome) in &commit.outcomes {
            self.outcomes.insert(key.clone(), outcome.clone());
            self.outcome_ages.push_back((outcome.time, key.clone()));
        }
    }

    fn remove_outcomes(&mut self, oldest: Timestamp) -> u64 {
        let mut removed = 0;
        while self.outcome_ages.front().is_some_and(|(time, _)| *time < oldest) {
            let Some((_, key)) = self.outcome_ages.pop_front() else { break };
            if self.outcomes.get(&key).is_some_and(|outcome| outcome.time < oldest) {
                self.outcomes.remove(&key);
                removed += 1;
            }
        }
        removed
    }
}

fn recipient(head: &Head) -> RecipientKey {
    let identity = &head.identity;
    RecipientKey { namespace: identity.key.namespace.clone(), id: identity.recipient.clone() }
}

fn place(head: &Head) -> (Reverse<Timestamp>, Reverse<ConversationId>) {
    (Reverse(head.identity.start_time), Reverse(head.identity.key.id.clone()))
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: "memory", durable: false, shared: false }
    }

    fn load<'a>(
        &'a self,
        key: &'a ConversationKey,
    ) -> BoxFuture<'a, Result<Option<Arc<Conversation>>, StoreError>> {
        ready(Ok(self.with_slot(key, |slot| slot.state.clone())))
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        ready(self.apply(&commit))
    }

    fn archived<'a>(
        &'a self,
        key: &'a ConversationKey,
        wanted: &'a Ranges,
    ) -> BoxFuture<'a, Result<Vec<Arc<Utterance>>, StoreError>> {
        ready(Ok(self.with_slot(key, |slot| {
            let range = |range| slot.archive.range(range).map(|(_, utterance)| utterance.clone());
            wanted.iter().flat_map(range).collect()
        })))
    }

    fn archived_ids<'a>(
        &'a self,
        key: &'a ConversationKey,
        ids: &'a [Box<str>],
    ) -> BoxFuture<'a, Result<HashMap<Box<str>, Sequence>, StoreError>> {
        ready(Ok(self.with_slot(key, |slot| {
            let known = |id: &str| Some((id.into(), *slot.archived_ids.get(id)?));
            ids.iter().filter_map(|id| known(id)).collect()
        })))
    }

    fn active<'a>(
        &'a self,
        recipient: &'a RecipientKey,
    ) -> BoxFuture<'a, Result<Option<ConversationId>, StoreError>> {
        ready(Ok(self.indexes.lock().active.get(recipient).cloned()))
    }

    fn conversations<'a>(
        &'a self,
        recipient: &'a RecipientKey,
        page: Page,
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        let start = match page.after {
            Some((time, id)) => Bound::Excluded((Reverse(time), Reverse(id))),
            None => Bound::Unbounded,
        };
        let listed: Vec<_> = match self.indexes.lock().by_recipient.get(recipient) {
            Some(listed) => listed.range((start, Bound::Unbounded)).take(page.limit).cloned().collect(),
            None => Vec::new(),
        };
        let head = |(_, Reverse(id)): (_, Reverse<ConversationId>)| {
            let key = ConversationKey { namespace: recipient.namespace.clone(), id };
            self.with_slot(&key, |slot| slot.state.as_ref().map(|state| state.head.clone()))
        };
        ready(Ok(listed.into_iter().filter_map(head).collect()))
    }

    fn outcome<'a>(
        &'a self,
        key: &'a OutcomeKey,
        oldest: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Arc<Outcome>>, StoreError>> {
        let mut indexes = self.indexes.lock();
        if indexes.outcomes.get(key).is_some_and(|outcome| outcome.time < oldest) {
            indexes.outcomes.remove(key);
        }
        ready(Ok(indexes.outcomes.get(key).cloned()))
    }

    fn due(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Due>, StoreError>> {
        let indexes = self.indexes.lock();
        let due = indexes.expiries.iter().take_while(|(time, _)| *time <= now).take(limit);
        ready(Ok(due.map(|(_, key)| Due::Expired(key.clone())).collect()))
    }

    fn remove_outcomes(&self, oldest: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        ready(Ok(self.indexes.lock().remove_outcomes(oldest)))
    }

    /// Memory is freed as it is given up: there is nothing to do.
    fn scrub(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        ready(Ok(()))
    }
}
