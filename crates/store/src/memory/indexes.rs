//! The indexes of the memory store: active conversations, the entries of lists and of work, outcomes, and the
//! readers of frozen lineages.

use std::{
    collections::hash_map::Entry,
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    Commit, Conflict, Outcome, OutcomeKey, PointerWrite, RecipientKey, Write, entries,
    records::{self, ConversationName, Key},
};
use utterd_domain::{Conversation, ConversationId, ConversationKey, LineageId, Sequence, Timestamp, Trunk};

#[derive(Default)]
pub(super) struct Indexes {
    pub(super) active: HashMap<RecipientKey, ConversationId>,
    /// The entries of lists, and of due and waiting work; and the names of conversations.
    pub(super) entries: BTreeSet<Key>,
    pub(super) outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
    outcome_ages: BTreeSet<(Timestamp, OutcomeKey)>,
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
        let (removed, added) = entries::changed_by(write);
        for key in removed {
            self.entries.remove(&key);
        }
        self.entries.extend(added.into_iter().map(|(key, _)| key));
        let name = records::key::<ConversationName>(write.key());
        match write.after() {
            Some(_) => self.entries.insert(name),
            None => self.entries.remove(&name),
        };
        self.read(write);
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
        for pointer in commit.pointers.iter().filter(|pointer| pointer.moves()) {
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
