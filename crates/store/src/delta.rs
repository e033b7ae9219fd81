//! What a write means for the stored records: the same for every store that keeps records.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Write,
    records::{
        self, Compactions, ConversationName, Description, Descriptions, HeadRecord, Heads, Key, Kind,
        LineageReader, Readers, Record, Segments, StateName, StateValues,
    },
};
use utterd_domain::{Block, Change, Conversation, Head, LineageId, Ranges, Trunk, state::StateValue};

/// What a write means for the stored records.
///
/// Of a conversation that is deleted, the records that are only its own are not listed: they are all under its
/// lineages.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Delta {
    /// The records that are written, by key; `None` for one that is removed. Written once the utterances in `gone` are
    /// removed, of which one may have the id of a new one.
    pub(crate) records: BTreeMap<Key, Option<Record>>,
    /// The sequences whose utterances are removed, by lineage; not all of them need be stored there.
    pub(crate) gone: Vec<(LineageId, Ranges)>,
    /// The sequences that the conversation no longer reads, by lineage: their utterances are removed there, unless
    /// another conversation still has them.
    pub(crate) released: Vec<(LineageId, Ranges)>,
    /// The blocks whose derived data is removed.
    pub(crate) underived: Vec<Block>,
    /// Whether text is removed that must become unreadable.
    pub(crate) erases: bool,
}

impl Delta {
    /// Returns what `write` means.
    pub(crate) fn of(write: &Write) -> Self {
        match write {
            Write::Change { before, changes, after } => {
                Self::of_change(before.as_ref().map(|before| &before.head), changes, after)
            }
            Write::Delete { before } => Self::of_deletion(&before.head),
        }
    }

    /// Returns what it means to create a conversation as it is, without its utterances.
    pub(crate) fn of_whole<'a>(
        state: &Conversation,
        values: impl IntoIterator<Item = &'a Arc<StateValue>>,
    ) -> Self {
        let change = Change {
            segments_written: state.summary.segments().to_vec(),
            compactions_written: state.compactions.to_vec(),
            state_set: values.into_iter().cloned().collect(),
            ..Change::default()
        };
        Self::of_change(None, &[Arc::new(change)], state)
    }

    fn of_change(before: Option<&Head>, changes: &[Arc<Change>], after: &Conversation) -> Self {
        let (head, mut delta) = (&after.head, Self::default());
        delta.change_utterances(head, changes);
        // the last change of a record counts, and within a change its removal
        changes.iter().rev().for_each(|change| delta.change_parts(head.identity.lineage, change));
        delta.share(before, head);
        delta.describe(before, head);
        delta.put(Record::Heads(head.identity.lineage, HeadRecord::of(head, &after.summary).into()));
        delta.erases = changes.iter().any(|change| !change.state_deleted.is_empty());
        if let Some(before) = before {
            delta.erases |= before.erased_at != head.erased_at;
            delta.underived = Block::holding(&underived(before, head, changes)).collect();
        }
        delta
    }

    fn of_deletion(head: &Head) -> Self {
        let (lineage, mut delta) = (head.identity.lineage, Self { erases: true, ..Self::default() });
        delta.remove::<ConversationName>(&head.identity.key);
        delta.remove::<Heads>(&lineage);
        delta.remove::<Descriptions>(&lineage);
        for trunk in head.trunks.iter() {
            delta.remove::<Readers>(&(trunk.lineage, lineage));
            delta.released.push((trunk.lineage, Ranges::before(trunk.through.next())));
        }
        delta
    }

    /// Writes utterances to the conversation's branch. Removes those that are erased wherever they are stored, and
    /// dropped ones unless another conversation has them.
    fn change_utterances(&mut self, head: &Head, changes: &[Arc<Change>]) {
        let (mut erased, mut dropped, mut fresh) = (Ranges::new(), Ranges::new(), Ranges::new());
        for change in changes.iter().rev() {
            erased.union(&change.erased);
            dropped.union(&change.dropped);
            for utterance in change.rewritten.iter().chain(&change.appended) {
                let at = (head.branch, utterance.sequence);
                if !(erased.contains(at.1) || dropped.contains(at.1)) {
                    self.put(Record::Utterances(at, utterance.clone()));
                }
            }
            change.appended.iter().for_each(|utterance| fresh.add(utterance.sequence));
        }
        let mut gone = erased.clone();
        gone.union(&dropped);
        gone.subtract(&fresh);
        self.gone.push((head.branch, gone));
        for Trunk { lineage, through } in head.trunks.iter().copied() {
            let read = Ranges::before(through.next());
            self.gone.push((lineage, erased.intersection(&read)));
            self.released.push((lineage, dropped.intersection(&read)));
        }
        self.gone.retain(|(_, gone)| !gone.is_empty());
        self.released.retain(|(_, released)| !released.is_empty());
    }

    /// Writes and removes segments, compactions and values of the state.
    fn change_parts(&mut self, lineage: LineageId, change: &Change) {
        change.segments_removed.iter().for_each(|number| self.remove::<Segments>(&(lineage, *number)));
        for segment in &change.segments_written {
            self.put(Record::Segments((lineage, segment.number), segment.clone()));
        }
        change.compactions_removed.iter().for_each(|number| self.remove::<Compactions>(&(lineage, *number)));
        for compaction in &change.compactions_written {
            self.put(Record::Compactions((lineage, compaction.number), compaction.clone()));
        }
        for name in &change.state_deleted {
            self.remove::<StateValues>(&(lineage, StateName(name.clone())));
        }
        for value in &change.state_set {
            let name = StateName(value.name.clone());
            self.put(Record::StateValues((lineage, name), value.clone()));
        }
    }

    /// Registers the conversation as a reader of new or changed trunks.
    fn share(&mut self, before: Option<&Head>, head: &Head) {
        let was = before.map_or(&[][..], |before| &before.trunks);
        let conversation = &head.identity.key;
        for trunk in head.trunks.iter().filter(|trunk| !was.contains(trunk)) {
            let reader = LineageReader { conversation: conversation.clone(), through: trunk.through };
            self.put(Record::Readers((trunk.lineage, head.identity.lineage), reader));
        }
    }

    /// Writes the name of a new conversation, and the description if it changed.
    fn describe(&mut self, before: Option<&Head>, head: &Head) {
        let identity = &head.identity;
        if before.is_none() {
            self.put(Record::ConversationName(identity.key.clone(), identity.clone()));
        }
        let (was, is) = (before.map(Description::of).unwrap_or_default(), Description::of(head));
        match is.is_empty() {
            _ if was == is => {}
            true => self.remove::<Descriptions>(&identity.lineage),
            false => self.put(Record::Descriptions(identity.lineage, is)),
        }
    }

    fn put(&mut self, record: Record) {
        self.records.entry(record.key()).or_insert(Some(record));
    }

    fn remove<K: Kind>(&mut self, key: &K::Key) {
        self.records.entry(records::key::<K>(key)).or_insert(None);
    }
}

/// Returns the sequences whose derived data a write makes invalid: those of text that no longer exists, and those of
/// blocks without any stored utterances left.
fn underived(before: &Head, head: &Head, changes: &[Arc<Change>]) -> Ranges {
    let mut gone = emptied(head, changes);
    if before.erased_at != head.erased_at {
        for change in changes {
            [&change.erased, &change.remnants, &change.updated].into_iter().for_each(|them| gone.union(them));
        }
    }
    gone
}

/// Returns the sequences of the blocks that lost utterances to a drop and have none left.
fn emptied(head: &Head, changes: &[Arc<Change>]) -> Ranges {
    let mut dropped = Ranges::new();
    changes.iter().for_each(|change| dropped.union(&change.dropped));
    if dropped.is_empty() {
        return dropped;
    }
    let kept = head.kept();
    let mut emptied = Ranges::new();
    for block in Block::holding(&dropped).map(Block::ranges).filter(|block| !kept.meets(block)) {
        emptied.union(&block);
    }
    emptied
}
