//! The memory store: conversations in a map, bounded in bytes.
//!
//! It keeps no records: a call that stores one utterance would make half a dozen keys and keep them in order, and each
//! utterance would be in a second map. What a write means for records is in a state already, except for the archive and
//! the values of a state, which a [`Slot`] applies. A backup gets its records from [`Delta`](crate::delta::Delta).
//!
//! A conversation's state is stored as it is published, so its window is in memory once. Utterances that
//! forks share are in memory once too, and counted once: until the last conversation that has them gives them up.
//! Everything is behind one lock: most commits change or check what all conversations share, such as the pointers of
//! recipients.

mod archive;
mod indexes;
mod lists;
mod records;
mod slot;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::RwLock;
use smallvec::SmallVec;

use crate::{
    Begin, Begun, BoxFuture, Capabilities, Commit, CommitError, Conflict, DerivedData, Due, EachRecord, List,
    Newer, Outcome, OutcomeKey, Quotas, RecipientKey, Result, Sharing, Store, StoreError, Upkeep, Write,
    async_trait, entries::Entries as _, listing, quotas::Keeper,
};
use archive::Archive;
use indexes::Indexes;
use slot::{Slot, Slots, gives_up};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    state::StateValue,
};
use utterd_telemetry::Registry;

/// Keeps everything in memory; nothing survives the process.
pub struct MemoryStore {
    content: RwLock<Content>,
    used: Arc<AtomicU64>,
    limit: u64,
    quotas: Keeper,
}

/// What is stored.
#[derive(Default)]
struct Content {
    /// A persistent map: it never moves all entries at once, and a backup copies it while commits wait.
    slots: Slots,
    indexes: Indexes,
}

impl MemoryStore {
    /// Creates an empty store that takes at most approximately `limit` bytes; 0 is unlimited.
    pub fn new(limit: u64) -> Self {
        Self {
            content: RwLock::default(),
            used: Arc::default(),
            limit: if limit == 0 { u64::MAX } else { limit },
            quotas: Keeper::default(),
        }
    }

    /// Returns the approximate number of bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn apply(&self, commit: &Commit) -> Result<(), CommitError> {
        let mut removed = Few::new(); // dropped once the lock is released: it may be large
        let mut content = self.content.write();
        content.check(commit)?;
        let archives = content.inherited_archives(commit)?;
        let growth = self.quotas.growth(commit);
        self.quotas.take(&growth)?;
        self.make_room(content.delta(commit)).inspect_err(|_| self.quotas.give_back(&growth))?;
        for (write, archive) in commit.writes.iter().zip(archives) {
            removed.extend(content.write(write, archive));
        }
        content.indexes.apply(commit);
        Ok(())
    }

    /// Reserves the bytes that a commit adds, or releases those that it frees.
    fn make_room(&self, delta: i64) -> Result<()> {
        let Ok(added) = u64::try_from(delta) else {
            self.give_back(delta.unsigned_abs());
            return Ok(());
        };
        let used = self.used.fetch_add(added, Ordering::Relaxed);
        if added > 0 && used + added > self.limit {
            self.give_back(added);
            return Err(StoreError::Full { used, limit: self.limit, added });
        }
        Ok(())
    }

    /// Returns the outcome under `key`, or removes it if it is older than `oldest`.
    fn kept_outcome(
        &self,
        content: &mut Content,
        key: &OutcomeKey,
        oldest: Timestamp,
    ) -> Option<Arc<Outcome>> {
        let outcomes = &mut content.indexes.outcomes;
        if let Some(outcome) = outcomes.get(key).filter(|outcome| outcome.time < oldest) {
            self.give_back(outcome.memory_bytes(key) as u64);
            outcomes.remove(key);
        }
        outcomes.get(key).cloned()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn with_slot<T: Default>(&self, key: &ConversationKey, read: impl FnOnce(&Slot) -> T) -> T {
        self.content.read().slots.get(key).map_or_else(T::default, read)
    }
}

impl Content {
    fn state(&self, key: &ConversationKey) -> Option<&Arc<Conversation>> {
        self.slots.get(key)?.state.as_ref()
    }

    /// Fails unless everything is as the commit requires.
    fn check(&self, commit: &Commit) -> Result<(), Conflict> {
        let change = |state: &Arc<Conversation>| state.head.change;
        let moved = |write: &&Write| self.state(write.key()).map(change) != write.before().map(change);
        match commit.writes.iter().find(moved) {
            Some(write) => Err(Conflict::State(write.key().clone())),
            None => self.indexes.check(commit),
        }
    }

    /// Returns for each write, if it creates a fork, the fork's part of its parent's archive.
    fn inherited_archives(&self, commit: &Commit) -> Result<Few<Option<Archive>>, Conflict> {
        let inherited = |write: &Write| {
            let Write::Change { changes, after, .. } = write else { return Ok(None) };
            let Some(key) = changes.iter().find_map(|change| change.inherits.as_ref()) else {
                return Ok(None);
            };
            let parent = self.slots.get(key).ok_or_else(|| Conflict::State(key.clone()))?;
            Ok(Some(parent.archive.part(&after.head.archived)))
        };
        commit.writes.iter().map(inherited).collect()
    }

    /// Returns the bytes that the commit adds: negative if it frees some.
    fn delta(&self, commit: &Commit) -> i64 {
        let nothing = Slot::default();
        let written = commit.writes.iter().enumerate().map(|(at, write)| {
            let others = match write.before() {
                Some(_) if gives_up(write) => self.sharing(write.key()),
                _ => Vec::new(),
            };
            // an utterance that several give up is freed by the last of them
            let has = |key: &ConversationKey, utterance: &Arc<Utterance>| {
                let earlier = commit.writes[..at].iter().find(|write| write.key() == key);
                self.slots.get(key).is_some_and(|slot| slot.keeps(utterance, earlier))
            };
            let is_shared = |utterance: &Arc<Utterance>| {
                let mut others = others.iter().filter(|(_, through)| *through >= utterance.sequence);
                others.any(|(key, _)| has(key, utterance))
            };
            self.slots.get(write.key()).unwrap_or(&nothing).delta(write, &is_shared)
        });
        let outcomes = commit.outcomes.iter().map(|(key, outcome)| outcome.memory_bytes(key) as i64);
        written.chain(outcomes).sum()
    }

    /// Applies a write; returns what it removes. `inherited` is a fork's part of its parent's archive.
    fn write(&mut self, write: &Write, inherited: Option<Archive>) -> Option<Slot> {
        self.indexes.write(write);
        match write {
            Write::Delete { before } => self.slots.remove(before.key()),
            Write::Change { changes, after, .. } => {
                let slot = self.slots.entry(after.key().clone()).or_default();
                slot.change(changes, after, inherited);
                None
            }
        }
    }

    /// See [`Store::sharing`].
    fn sharing(&self, key: &ConversationKey) -> Vec<(ConversationKey, Sequence)> {
        let shared = self.state(key).map(|state| self.indexes.sharing(key, state.head.lineages()));
        shared.into_iter().flatten().collect()
    }
}

/// A list with room for one entry inline: most commits write one conversation.
type Few<T> = SmallVec<[T; 1]>;

#[async_trait]
impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "memory",
            durable: false,
            shared: false,
            resident: true,
            derived: false,
            traced: false,
        }
    }

    async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
        Ok(self.with_slot(key, |slot| slot.state.clone()))
    }

    async fn begin(&self, begin: Begin<'_>) -> Result<Begun> {
        let mut content = self.content.write();
        let active = begin.recipient.and_then(|recipient| content.indexes.active.get(recipient).cloned());
        let outcome = begin.outcome.and_then(|(key, oldest)| self.kept_outcome(&mut content, key, oldest));
        let state = match begin.wanted(active.as_ref()) {
            Ok((key, known)) => Newer::than(known, content.state(&key).cloned()),
            Err(answer) => answer,
        };
        Ok(Begun { active, outcome, state })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
        Box::pin(ready(self.apply(&commit)))
    }

    async fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        Ok(self.with_slot(key, |slot| {
            let among = |range| slot.archive.among(range).cloned();
            wanted.iter().flat_map(among).collect()
        }))
    }

    async fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        Ok(self.with_slot(key, |slot| {
            let known = |id: &str| Some((id.into(), slot.archive.given(id)?));
            ids.iter().filter_map(|id| known(id)).collect()
        }))
    }

    async fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>> {
        let wanted = |value: &&Arc<StateValue>| names.is_empty() || names.contains(&value.name);
        Ok(self.with_slot(key, |slot| slot.values.values().filter(wanted).cloned().collect()))
    }

    async fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        Ok(self.content.read().sharing(key))
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        Ok(self.content.read().indexes.active.get(recipient).cloned())
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        listing::page(&list, &*self.content.read())
    }

    async fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        self.content.read().newest_keys(recipient, limit)
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.content.read().ended_beyond(recipient, keep, limit)
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        Ok(self.kept_outcome(&mut self.content.write(), key, oldest))
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.content.read().due(now, limit)
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.content.read().waiting(after.as_ref(), limit)
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        let (removed, bytes) = self.content.write().indexes.remove_outcomes(oldest);
        self.give_back(bytes);
        Ok(removed)
    }

    /// Does nothing: the memory of removed data is freed at once.
    async fn scrub(&self) -> Result<()> {
        Ok(())
    }
}

impl Sharing for MemoryStore {}
impl DerivedData for MemoryStore {}
impl Upkeep for MemoryStore {
    fn describe(&self, registry: &Registry) {
        let (used, limit) = (self.used.clone(), self.limit);
        registry.gauge("utterd_store_bytes", "Memory that conversations take; an estimate.", move || {
            used.load(Ordering::Relaxed) as f64
        });
        registry
            .gauge("utterd_store_limit_bytes", "The most memory for conversations.", move || limit as f64);
    }

    fn set_quotas(&self, quotas: Quotas) -> Result<()> {
        self.quotas.set(quotas, |ledger| {
            let content = self.content.read();
            let states = content.slots.values().filter_map(|slot| slot.state.as_ref());
            states.for_each(|state| ledger.count(&state.head));
            Ok(())
        })
    }

    /// Takes memory in proportion to the number of records, besides what they hold.
    fn each_record(&self, each: &mut EachRecord<'_>) -> Result<()> {
        let (slots, active, outcomes) = {
            let Content { slots, indexes } = &*self.content.read();
            (slots.clone(), indexes.active.clone(), indexes.outcomes.clone())
        };
        records::of(&slots, active, outcomes)
            .into_iter()
            .try_for_each(|(_, record)| each(Ok(record.written())))
    }
}
