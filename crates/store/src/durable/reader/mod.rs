//! The reads of a durable store.
//!
//! A state spans many records, and the writing thread can change them between two reads. So a state is
//! assembled for one head, and discarded if that head has changed meanwhile.

mod lists;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    ops::{Range, RangeInclusive},
    sync::Arc,
};

use super::{
    disk::directory::Directory,
    key_value::{Key, KeyValue},
    pairs,
};
use crate::{
    Derived, DerivedBytes, Outcome, OutcomeKey, RecipientKey, Result, StoreError,
    records::{
        self, Active, Blocks, Compactions, ConversationName, Descriptions, GivenIds, HeadRecord, Heads, Kind,
        Meta, Metas, OfLineage, OutcomeAges, OutcomeName, Outcomes, Readers, Segments, StateValues,
        Utterances,
    },
};
use utterd_domain::{
    Block, Conversation, ConversationId, ConversationKey, Head, LineageId, Ranges, Sequence, Timestamp,
    Utterance, state::StateValue,
};

/// How often to retry reading a state that keeps changing.
const ATTEMPTS: usize = 1_000;

/// Reads the pairs of a directory.
#[derive(Clone)]
pub(super) struct Reader(pub(super) Arc<Directory>);

impl Reader {
    pub(super) fn load(&self, key: &ConversationKey) -> Result<Option<Conversation>> {
        self.consistent(key, |reader, record| {
            let head = &record.head;
            let mut live = Ranges::before(head.next);
            live.subtract(&head.left);
            let window = reader.utterances(head, &live)?;
            let segments = reader.of_lineage::<Segments>(head.identity.lineage)?;
            // most conversations never had one
            let compactions = match head.next_compaction {
                1 => Vec::new(),
                _ => reader.of_lineage::<Compactions>(head.identity.lineage)?,
            };
            let made = reader.complete(record)?.conversation(window, segments, compactions);
            made.map_err(|how| damaged(key, &how))
        })
    }

    /// Returns the values of the records of a kind in a lineage.
    fn of_lineage<K: Kind<Key: OfLineage>>(&self, lineage: LineageId) -> Result<Vec<K::Value>> {
        self.all::<K>(&records::of_lineage::<K>(lineage)).map(|record| Ok(record?.1)).collect()
    }

    pub(super) fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        let archived = self.consistent(key, |reader, HeadRecord { head, .. }| {
            reader.utterances(&head, &wanted.intersection(&head.archived))
        });
        Ok(archived?.unwrap_or_default())
    }

    pub(super) fn archived_ids(
        &self,
        key: &ConversationKey,
        ids: &[Box<str>],
    ) -> Result<HashMap<Box<str>, Sequence>> {
        let found = self.consistent(key, |reader, HeadRecord { head, .. }| {
            let mut found = HashMap::new();
            for id in ids {
                if let Some(sequence) = reader.archived_id(&head, id)? {
                    found.insert(id.clone(), sequence);
                }
            }
            Ok(found)
        });
        Ok(found?.unwrap_or_default())
    }

    /// See [`Store::state`](crate::Store::state).
    pub(super) fn state(&self, key: &ConversationKey, names: &[Box<str>]) -> Result<Vec<Arc<StateValue>>> {
        let values = self.consistent(key, |reader, HeadRecord { head, .. }| {
            let mut state = reader.of_lineage::<StateValues>(head.identity.lineage)?;
            state.retain(|value: &Arc<StateValue>| names.is_empty() || names.contains(&value.name));
            Ok(state)
        });
        Ok(values?.unwrap_or_default())
    }

    pub(super) fn sharing(&self, key: &ConversationKey) -> Result<Vec<(ConversationKey, Sequence)>> {
        let shared = self.consistent(key, |reader, HeadRecord { head, .. }| {
            let mut shared = BTreeMap::new();
            for (lineage, read) in head.lineages() {
                for other in reader.all::<Readers>(&records::of_lineage::<Readers>(lineage)) {
                    let ((_, lineage), other) = other?;
                    if lineage != head.identity.lineage {
                        let last = shared.entry(other.conversation).or_insert(Sequence(0));
                        *last = read.min(other.through).max(*last);
                    }
                }
            }
            Ok(shared)
        });
        Ok(shared?.unwrap_or_default().into_iter().collect())
    }

    /// See [`Store::derived`](crate::Store::derived). A block that cannot be read counts as missing.
    pub(super) fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: &RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        let found = self.consistent(key, |reader, HeadRecord { head, .. }| {
            let mut found = Vec::new();
            let among = records::blocks_among(head.identity.lineage, kind, blocks);
            for pair in pairs::within(reader.pairs(), &among) {
                let (key, value) = pair.map_err(unreadable)?;
                let read = records::decode::<Blocks>(&key, &value);
                found.extend(read.ok().map(|((_, name), bytes)| (name.block, bytes.0)));
            }
            Ok(found)
        });
        Ok(found?.unwrap_or_default())
    }

    pub(super) fn active(&self, recipient: &RecipientKey) -> Result<Option<ConversationId>> {
        self.get::<Active>(recipient)
    }

    pub(super) fn outcome(&self, key: &OutcomeKey) -> Result<Option<Arc<Outcome>>> {
        self.get::<Outcomes>(&OutcomeName::of(key))
    }

    /// Returns at most `limit` outcomes older than `oldest`.
    pub(super) fn old_outcomes(
        &self,
        oldest: Timestamp,
        limit: usize,
    ) -> Result<Vec<(Timestamp, OutcomeName)>> {
        self.all::<OutcomeAges>(&records::outcome_ages_before(oldest))
            .take(limit)
            .map(|age| Ok(age?.0))
            .collect()
    }

    /// Returns the lineage of a conversation's identity.
    pub(super) fn lineage(&self, key: &ConversationKey) -> Result<Option<LineageId>> {
        Ok(self.get::<ConversationName>(key)?.map(|identity| identity.lineage))
    }

    /// Passes the head of each conversation to `each`.
    pub(super) fn each_head(&self, mut each: impl FnMut(&Head)) -> Result<()> {
        for pair in self.all::<ConversationName>(&records::all_of::<ConversationName>()) {
            let (key, identity) = pair?;
            let record =
                self.get::<Heads>(&identity.lineage)?.ok_or_else(|| damaged(&key, "it has no head"))?;
            let description = self.get::<Descriptions>(&identity.lineage)?.unwrap_or_default();
            each(&record.complete(identity, description).head);
        }
        Ok(())
    }

    /// Returns the last group that removed data whose bytes may still be in the files.
    pub(super) fn unscrubbed(&self) -> Result<Option<u64>> {
        self.get::<Metas>(&Meta::Unscrubbed)
    }

    /// Runs `read` on a conversation's head, with its identity. All records that `read` gets are from one
    /// state. Returns `None` if there is no such conversation.
    fn consistent<T>(
        &self,
        key: &ConversationKey,
        read: impl Fn(&Self, HeadRecord) -> Result<T>,
    ) -> Result<Option<T>> {
        for _ in 0..ATTEMPTS {
            let Some(identity) = self.get::<ConversationName>(key)? else { return Ok(None) };
            let at = records::key::<Heads>(&identity.lineage);
            let Some(before) = self.value(&at)? else {
                let stays = self.get::<ConversationName>(key)?.as_ref() == Some(&identity);
                match stays && self.value(&at)?.is_none() {
                    true => return Err(damaged(key, "it has no head")),
                    false => continue,
                }
            };
            let mut record = *decoded::<Heads>(&at, &before)?;
            record.head.identity = identity;
            let result = read(self, record);
            // a lineage belongs to one conversation for ever: while the head exists, so does the name
            if self.value(&at)?.as_ref() == Some(&before) {
                return result.map(Some);
            }
        }
        Err(StoreError::unavailable(format!("conversation {} changes faster than it can be read", key.id)))
    }

    /// Completes a record that already has its identity.
    fn complete(&self, record: HeadRecord) -> Result<HeadRecord> {
        let identity = record.head.identity.clone();
        let description = self.get::<Descriptions>(&identity.lineage)?.unwrap_or_default();
        Ok(record.complete(identity, description))
    }

    /// Returns the archived utterance to which a client gave `id`.
    fn archived_id(&self, head: &Head, id: &str) -> Result<Option<Sequence>> {
        for (lineage, through) in head.lineages() {
            let sequence = self.get::<GivenIds>(&(lineage, id.into()))?;
            if let Some(sequence) = sequence
                && sequence <= through
                && head.archived.contains(sequence)
            {
                return Ok(Some(sequence));
            }
        }
        Ok(None)
    }

    /// Returns the utterances among `wanted` that a conversation reads, ascending; each in its latest
    /// version.
    pub(super) fn utterances(&self, head: &Head, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        if head.trunks.is_empty() {
            return self.utterances_of(head.branch, wanted);
        }
        let (mut utterances, mut missing) = (Vec::new(), wanted.clone());
        for (lineage, through) in head.lineages() {
            let found =
                self.utterances_of(lineage, &missing.intersection(&Ranges::before(through.next())))?;
            missing.subtract(&found.iter().map(|utterance| utterance.sequence).collect());
            utterances.extend(found);
        }
        utterances.sort_unstable_by_key(|utterance| utterance.sequence);
        Ok(utterances)
    }

    fn utterances_of(&self, lineage: LineageId, among: &Ranges) -> Result<Vec<Arc<Utterance>>> {
        let mut utterances = Vec::new();
        for range in among.iter() {
            for pair in self.all::<Utterances>(&records::utterances_among(lineage, range)) {
                utterances.push(pair?.1);
            }
        }
        Ok(utterances)
    }

    /// Returns the records of a kind in a range of keys.
    fn all<'a, K: Kind>(
        &'a self,
        range: &Range<Key>,
    ) -> impl DoubleEndedIterator<Item = Result<(K::Key, K::Value)>> + use<'a, K> {
        pairs::read::<K>(self.pairs(), range).map(|record| record.map_err(unreadable))
    }

    fn get<K: Kind>(&self, key: &K::Key) -> Result<Option<K::Value>> {
        pairs::get::<K>(self.pairs(), key).map_err(unreadable)
    }

    fn value(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        self.pairs().get(key).map_err(unreadable)
    }

    fn pairs(&self) -> &dyn KeyValue {
        self.0.pairs()
    }
}

fn decoded<K: Kind>(key: &[u8], value: &[u8]) -> Result<K::Value> {
    records::decode::<K>(key, value).map(|(_, value)| value).map_err(unreadable)
}

fn unreadable(error: impl fmt::Display) -> StoreError {
    StoreError::unavailable(format_args!("{error}; if the files are damaged, run utterd verify for details"))
}

fn damaged(key: &ConversationKey, how: &str) -> StoreError {
    StoreError::unavailable(format!(
        "conversation {} is damaged: {how}; run utterd verify for details",
        key.id
    ))
}
