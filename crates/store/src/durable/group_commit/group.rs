//! A group: requests that take effect together.

use std::ops::Range;

use quick_cache::unsync::Cache;
use rustc_hash::FxHashMap;

use super::super::{
    key_value::{Key, KeyValue, Value, Writes},
    pairs,
    request::{Check, Request, Step},
};
use crate::{
    CommitError, Result, StoreError,
    quotas::Keeper,
    records::{self, Active, GivenIds, Heads, Kind, Meta, Metas, Outcomes, Readers, Utterances},
};
use utterd_domain::{Block, ChangeId, LineageId, Ranges, Revision, Utterance};

/// The cached states of conversations; `None` for a deleted conversation.
pub(super) type States = Cache<LineageId, Option<ChangeId>>;

/// So many sequences are few: for each, a key is looked up.
const FEW: u64 = 64;

/// The combined writes of a group's requests so far.
pub(super) struct Group<'a> {
    number: u64,
    /// The links before this group.
    links: &'a [u64],
    pairs: &'a dyn KeyValue,
    states: &'a mut States,
    quotas: &'a Keeper,
    writes: FxHashMap<Key, Option<Value>>,
}

impl<'a> Group<'a> {
    pub(super) fn new(
        number: u64,
        links: &'a [u64],
        pairs: &'a dyn KeyValue,
        states: &'a mut States,
        quotas: &'a Keeper,
    ) -> Self {
        Self { number, links, pairs, states, quotas, writes: FxHashMap::default() }
    }

    /// Adds a whole request to the group if all its checks hold.
    pub(super) fn admit(&mut self, request: Request) -> Result<(), CommitError> {
        for (check, conflict) in request.checks {
            if !self.holds(&check)? {
                return Err(conflict.into());
            }
        }
        let mut writes = Vec::with_capacity(request.steps.len());
        for step in request.steps {
            self.resolve(step, &mut writes)?;
        }
        self.quotas.take(&request.growth)?;
        self.writes.extend(writes);
        for (lineage, state) in request.heads {
            self.states.insert(lineage, state);
        }
        Ok(())
    }

    /// Returns all writes, with the records of the group itself; `None` if there are no writes.
    pub(super) fn writes(mut self) -> Option<Writes> {
        if self.writes.is_empty() {
            return None;
        }
        self.writes.extend(records::group_writes(self.number, self.links));
        Some(self.writes.into_iter().collect())
    }

    fn holds(&mut self, check: &Check) -> Result<bool> {
        Ok(match check {
            Check::Absent(key) => self.get(key)?.is_none(),
            Check::At(lineage, state) => self.state(*lineage)? == Some(*state),
            Check::Has(lineage, erased_at, block) => self.has(*lineage, *erased_at, *block)?,
            Check::Active(key, expected) => self.read::<Active>(key)? == *expected,
        })
    }

    /// Whether the conversation exists, has had nothing erased since `erased_at`, and has an utterance in the
    /// block.
    fn has(&self, lineage: LineageId, erased_at: Revision, block: Block) -> Result<bool> {
        let head = self.read::<Heads>(&records::key::<Heads>(&lineage))?;
        let head = head.map(|record| record.head).filter(|head| head.erased_at == erased_at);
        Ok(head.is_some_and(|head| head.kept().meets(&block.ranges())))
    }

    fn state(&mut self, lineage: LineageId) -> Result<Option<ChangeId>> {
        if let Some(state) = self.states.get(&lineage) {
            return Ok(*state);
        }
        let head = self.read::<Heads>(&records::key::<Heads>(&lineage))?;
        let state = head.map(|record| record.head.change);
        self.states.insert(lineage, state);
        Ok(state)
    }

    /// Adds the writes of `step`, given the request's earlier `writes`.
    fn resolve(&self, step: Step, writes: &mut Writes) -> Result<()> {
        match step {
            Step::Put(key, value) => writes.push((key, Some(value))),
            Step::Remove(key) => writes.push((key, None)),
            Step::RemoveAll(range) => {
                writes.extend(self.keys(&range)?.into_iter().map(|key| (key, None)));
            }
            Step::RemoveUtterances(lineage, gone) => self.remove_utterances(lineage, &gone, writes)?,
            Step::RemoveOutcome(key, age, oldest) => {
                if self.read::<Outcomes>(&key)?.is_some_and(|outcome| outcome.time < oldest) {
                    writes.push((key, None));
                }
                writes.push((age, None));
            }
            Step::Release { trunk, reader, gone } => self.release(trunk, reader, gone, writes)?,
            Step::Unscrubbed => {
                let (key, value) = records::pair::<Metas>(&Meta::Unscrubbed, &self.number);
                writes.push((key, Some(value)));
            }
            Step::Scrubbed(group) => {
                let key = records::key::<Metas>(&Meta::Unscrubbed);
                if self.read::<Metas>(&key)?.is_some_and(|last| last <= group) {
                    writes.push((key, None));
                }
            }
        }
        Ok(())
    }

    /// Removes the stored utterances among `gone`, with the ids that clients gave them. Looks up few sequences one by
    /// one, and what is stored among many.
    fn remove_utterances(&self, lineage: LineageId, gone: &Ranges, writes: &mut Writes) -> Result<()> {
        let ids = records::of_lineage::<GivenIds>(lineage);
        let named = writes.iter().any(|(key, _)| ids.contains(key)) || self.any(&ids)?;
        let keys = match gone.count() <= FEW {
            true => gone.sequences().map(|at| records::key::<Utterances>(&(lineage, at))).collect(),
            false => self.stored_among(lineage, gone, writes)?,
        };
        for key in keys {
            if named && let Some(utterance) = self.latest::<Utterances>(&key, writes)? {
                self.free_id(lineage, &utterance, writes)?;
            }
            writes.push((key, None));
        }
        Ok(())
    }

    fn stored_among(&self, lineage: LineageId, sequences: &Ranges, writes: &Writes) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        for range in sequences.iter() {
            let among = records::utterances_among(lineage, range);
            keys.extend(self.keys(&among)?);
            keys.extend(writes.iter().map(|(key, _)| key).filter(|key| among.contains(*key)).cloned());
        }
        Ok(keys)
    }

    /// Frees the id of a removed utterance, unless another one has it.
    fn free_id(&self, lineage: LineageId, removed: &Utterance, writes: &mut Writes) -> Result<()> {
        let Some(id) = removed.given_id() else { return Ok(()) };
        let key = records::key::<GivenIds>(&(lineage, id.into()));
        if self.latest::<GivenIds>(&key, writes)? == Some(removed.sequence) {
            writes.push((key, None));
        }
        Ok(())
    }

    /// Removes the released utterances, except those that another reader of the trunk still has. Considers
    /// readers and their heads as of this group and the request's `writes`.
    ///
    /// Stops looking at readers as soon as nothing is left to remove.
    fn release(
        &self,
        trunk: LineageId,
        reader: LineageId,
        mut gone: Ranges,
        writes: &mut Writes,
    ) -> Result<()> {
        let readers = records::of_lineage::<Readers>(trunk);
        let written = writes.iter().map(|(key, _)| key).filter(|key| readers.contains(*key));
        let written = written.chain(self.written(&readers)).cloned().map(Ok);
        let stored = pairs::within(self.pairs, &readers).map(|pair| pair.map(|(key, _)| key));
        for key in written.chain(stored) {
            let key = key.map_err(StoreError::unavailable)?;
            if let Some(kept) = self.kept_by_reader(&key, reader, writes)? {
                gone.subtract(&kept);
            }
            if gone.is_empty() {
                return Ok(());
            }
        }
        self.remove_utterances(trunk, &gone, writes)
    }

    /// Returns the utterances that the reader with this key still has in its trunk; `None` for the releasing
    /// reader itself, or for one that is no longer a reader.
    fn kept_by_reader(&self, key: &[u8], releasing: LineageId, writes: &Writes) -> Result<Option<Ranges>> {
        let Some(record) = self.latest::<Readers>(key, writes)? else { return Ok(None) };
        let (_, reader) = records::decode_key::<Readers>(key).map_err(StoreError::unavailable)?;
        if reader == releasing {
            return Ok(None);
        }
        let read = Ranges::before(record.through.next());
        let head = self.latest::<Heads>(&records::key::<Heads>(&reader), writes)?;
        Ok(Some(head.map_or_else(|| read.clone(), |record| record.head.kept().intersection(&read))))
    }

    /// Returns the keys in a range that have a value now, or had one before this group.
    fn keys(&self, range: &Range<Key>) -> Result<Vec<Key>> {
        let stored =
            pairs::within(self.pairs, range).map(|pair| Ok(pair.map_err(StoreError::unavailable)?.0));
        self.written(range).cloned().map(Ok).chain(stored).collect()
    }

    /// Whether any key in a range has a value now, or had one before this group.
    fn any(&self, range: &Range<Key>) -> Result<bool> {
        if self.written(range).next().is_some() {
            return Ok(true);
        }
        Ok(pairs::within(self.pairs, range).next().transpose().map_err(StoreError::unavailable)?.is_some())
    }

    fn written<'b>(&'b self, range: &'b Range<Key>) -> impl Iterator<Item = &'b Key> {
        let values = self.writes.iter().filter(|(_, value)| value.is_some());
        values.map(|(key, _)| key).filter(|key| range.contains(*key))
    }

    fn read<K: Kind>(&self, key: &[u8]) -> Result<Option<K::Value>> {
        self.latest::<K>(key, &Writes::new())
    }

    /// Returns the value after the `writes` of a request.
    fn latest<K: Kind>(&self, key: &[u8], writes: &Writes) -> Result<Option<K::Value>> {
        let written = writes.iter().rev().find(|(written, _)| written == key);
        let value = written.map_or_else(|| self.get(key), |(_, value)| Ok(value.clone()))?;
        let Some(value) = value else { return Ok(None) };
        Ok(Some(records::decode::<K>(key, &value).map_err(StoreError::unavailable)?.1))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Value>> {
        match self.writes.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.pairs.get(key).map_err(StoreError::unavailable),
        }
    }
}
