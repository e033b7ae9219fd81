//! The memory store: conversations in a concurrent map, bounded in bytes.
//!
//! It keeps no records: a call that stores one utterance would make half a dozen keys and keep them in order, and each
//! utterance would be in a second map. What a write means for records is in a state already, except for the archive and
//! the values of a state, which a [`Slot`] applies. A backup gets its records from [`Delta`](crate::delta::Delta).
//!
//! A conversation's state is stored as it is published, so its window is in memory once. Utterances that
//! forks share are in memory once too, and counted once: until the last conversation that has them gives them up.
//! Locks are taken in one order: the one that commits share, conversations by ascending key, then the indexes.

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

use dashmap::DashMap;
use parking_lot::{Mutex, MutexGuard, RwLock};
use smallvec::SmallVec;

use crate::{
    Begin, Begun, BoxFuture, Capabilities, Commit, CommitError, Conflict, DerivedData, Due, EachRecord, List,
    Newer, Outcome, OutcomeKey, Quotas, RecipientKey, Result, Sharing, Store, StoreError, Upkeep, Write,
    async_trait,
    entries::{self, Entries as _},
    listing,
    quotas::Keeper,
};
use archive::Archive;
use indexes::Indexes;
use slot::{Slot, gives_up};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance,
    state::StateValue,
};
use utterd_telemetry::Registry;

/// Shards of the map: enough that two calls rarely contend for one shard's lock.
const SHARDS: usize = 256;

/// Keeps everything in memory; nothing survives the process.
pub struct MemoryStore {
    conversations: DashMap<ConversationKey, Arc<Mutex<Slot>>>,
    indexes: Mutex<Indexes>,
    used: Arc<AtomicU64>,
    limit: u64,
    quotas: Keeper,
    /// Shared by commits; held alone by those that give something up, and while everything is noted for a backup.
    committing: RwLock<()>,
}

impl MemoryStore {
    /// Creates an empty store that takes at most approximately `limit` bytes; 0 is unlimited.
    pub fn new(limit: u64) -> Self {
        Self {
            conversations: DashMap::with_shard_amount(SHARDS),
            indexes: Mutex::default(),
            used: Arc::default(),
            limit: if limit == 0 { u64::MAX } else { limit },
            quotas: Keeper::default(),
            committing: RwLock::default(),
        }
    }

    /// Returns the approximate number of bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn apply(&self, commit: &Commit) -> Result<(), CommitError> {
        // what one conversation gives up, another one may still have: meanwhile nothing else is committed
        let gives = commit.writes.iter().any(gives_up);
        let _alone = gives.then(|| self.committing.write());
        let _among_others = (!gives).then(|| self.committing.read());
        let mut writes: Few<&Write> = commit.writes.iter().collect();
        writes.sort_by_key(|write| write.key());
        loop {
            let slots: Few<_> = writes.iter().map(|write| self.slot(write.key())).collect();
            let mut guards: Few<_> = slots.iter().map(|slot| slot.lock()).collect();
            if guards.iter().any(|slot| slot.removed) {
                continue;
            }
            let result = self.apply_locked(commit, &writes, &mut guards);
            self.tidy(&writes, &mut guards);
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
        writes: &[&Write],
        slots: &mut [MutexGuard<'_, Slot>],
    ) -> Result<(), CommitError> {
        let moved = writes.iter().zip(slots.iter()).find(|(write, slot)| !slot.is_in(write.before()));
        if let Some((write, _)) = moved {
            return Err(Conflict::State(write.key().clone()).into());
        }
        let mut archives = inherited_archives(writes, slots)?;
        let delta = self.delta(commit, writes, slots);
        let indexed = !commit.pointers.is_empty()
            || !commit.outcomes.is_empty()
            || commit.writes.iter().any(changes_indexes);
        let mut indexes = indexed.then(|| self.indexes.lock());
        if let Some(indexes) = &indexes {
            indexes.check(commit)?;
        }
        let growth = self.quotas.growth(commit);
        self.quotas.take(&growth)?;
        self.make_room(delta).inspect_err(|_| self.quotas.give_back(&growth))?;
        for (at, (write, slot)) in writes.iter().zip(slots.iter_mut()).enumerate() {
            let archive = archives.pop_if(|(fork, _)| *fork == at).map(|(_, archive)| archive);
            if let Some(indexes) = &mut indexes {
                indexes.write(write);
            }
            slot.write(write, archive);
        }
        if let Some(indexes) = &mut indexes {
            indexes.apply(commit);
        }
        Ok(())
    }

    /// Returns the bytes that the commit adds: negative if it frees some.
    fn delta(&self, commit: &Commit, writes: &[&Write], slots: &[MutexGuard<'_, Slot>]) -> i64 {
        let written = writes.iter().enumerate().map(|(at, write)| {
            let before = write.before().filter(|_| gives_up(write));
            let sharing =
                |state: &Arc<Conversation>| self.indexes.lock().sharing(write.key(), state.head.lineages());
            let others = before.map(sharing).unwrap_or_default();
            // an utterance that several give up is freed by the last of them
            let has = |key: &ConversationKey, utterance: &Arc<Utterance>| match writes
                .iter()
                .position(|write| write.key() == key)
            {
                Some(other) => slots[other].keeps(utterance, writes[..at].get(other).copied()),
                None => self.with_slot(key, |slot| slot.keeps(utterance, None)),
            };
            let is_shared = |utterance: &Arc<Utterance>| {
                let mut others = others.iter().filter(|(_, through)| **through >= utterance.sequence);
                others.any(|(key, _)| has(key, utterance))
            };
            slots[at].delta(write, &is_shared)
        });
        let outcomes = commit.outcomes.iter().map(|(key, outcome)| outcome.memory_bytes(key) as i64);
        written.chain(outcomes).sum()
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
        indexes: &mut Indexes,
        key: &OutcomeKey,
        oldest: Timestamp,
    ) -> Option<Arc<Outcome>> {
        if let Some(outcome) = indexes.outcomes.get(key).filter(|outcome| outcome.time < oldest) {
            self.give_back(outcome.memory_bytes(key) as u64);
            indexes.outcomes.remove(key);
        }
        indexes.outcomes.get(key).cloned()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Removes slots without a conversation from the map.
    fn tidy(&self, writes: &[&Write], slots: &mut [MutexGuard<'_, Slot>]) {
        for (write, slot) in writes.iter().zip(slots) {
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

/// A list with room for one entry inline: most commits write one conversation.
type Few<T> = SmallVec<[T; 1]>;

/// Whether the write changes what the indexes tell of its conversation.
fn changes_indexes(write: &Write) -> bool {
    let [before, after] = [write.before(), write.after()].map(|state| state.map(|state| &state.head.trunks));
    !write.key().id.is_of_state() && (entries::are_changed_by(write) || before != after)
}

/// Returns the places of created forks, descending, each with its part of its parent's archive. The parent
/// must be written in the same commit.
fn inherited_archives(
    writes: &[&Write],
    slots: &[MutexGuard<'_, Slot>],
) -> Result<Vec<(usize, Archive)>, CommitError> {
    let mut archives = Vec::new();
    for (fork, write) in writes.iter().enumerate().rev() {
        let Write::Change { changes, after, .. } = write else { continue };
        let Some(key) = changes.iter().find_map(|change| change.inherits.as_ref()) else { continue };
        let parent = writes.iter().position(|write| write.key() == key);
        let parent = &slots[parent.ok_or_else(|| Conflict::State(key.clone()))?];
        archives.push((fork, parent.archive.part(&after.head.archived)));
    }
    Ok(archives)
}

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
        let (mut active, mut outcome) = (None, None);
        if begin.recipient.is_some() || begin.outcome.is_some() {
            let mut indexes = self.indexes.lock();
            active = begin.recipient.and_then(|recipient| indexes.active.get(recipient).cloned());
            outcome = begin.outcome.and_then(|(key, oldest)| self.kept_outcome(&mut indexes, key, oldest));
        }
        let state = match begin.wanted(active.as_ref()) {
            Ok((key, known)) => Newer::than(known, self.with_slot(&key, |slot| slot.state.clone())),
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
        let state = self.with_slot(key, |slot| slot.state.clone());
        let shared = state.map(|state| self.indexes.lock().sharing(key, state.head.lineages()));
        Ok(shared.into_iter().flatten().collect())
    }

    async fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        Ok(self.indexes.lock().active.get(recipient).cloned())
    }

    async fn list(&self, list: List) -> Result<Vec<Head>> {
        listing::page(&list, self)
    }

    async fn newest_keys(&self, recipient: &RecipientKey, limit: usize) -> Result<Vec<ConversationKey>> {
        self.indexes.lock().newest_keys(recipient, limit)
    }

    async fn ended_beyond(
        &self,
        recipient: &RecipientKey,
        keep: usize,
        limit: usize,
    ) -> Result<Vec<ConversationId>> {
        self.indexes.lock().ended_beyond(recipient, keep, limit)
    }

    async fn outcome(&self, key: &OutcomeKey, oldest: Timestamp) -> Result<Option<Arc<Outcome>>> {
        Ok(self.kept_outcome(&mut self.indexes.lock(), key, oldest))
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Due>> {
        self.indexes.lock().due(now, limit)
    }

    async fn waiting(
        &self,
        after: Option<(Timestamp, ConversationKey)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, ConversationKey)>> {
        self.indexes.lock().waiting(after.as_ref(), limit)
    }

    async fn remove_outcomes(&self, oldest: Timestamp) -> Result<u64> {
        let (removed, bytes) = self.indexes.lock().remove_outcomes(oldest);
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
            let slots: Vec<_> = self.conversations.iter().map(|slot| slot.clone()).collect();
            let states = slots.iter().filter_map(|slot| slot.lock().state.clone());
            states.for_each(|state| ledger.count(&state.head));
            Ok(())
        })
    }

    /// Takes memory in proportion to the number of records, besides what they hold.
    fn each_record(&self, each: &mut EachRecord<'_>) -> Result<()> {
        self.records().into_iter().try_for_each(|(_, record)| each(Ok(record.written())))
    }
}
