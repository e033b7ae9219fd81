//! One conversation of the memory store: its state, and its archive.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    domain::{Change, Conversation, Head, Ranges, Sequence, Utterance},
    store::Write,
};

#[derive(Default)]
pub(super) struct Slot {
    pub(super) state: Option<Arc<Conversation>>,
    pub(super) archive: BTreeMap<Sequence, Arc<Utterance>>,
    pub(super) archived_ids: HashMap<Box<str>, Sequence>,
    bytes: u64,
    /// The slot is no longer in the map: whoever holds it looks it up anew.
    pub(super) removed: bool,
}

fn bytes(utterance: &Utterance) -> i64 {
    utterance.memory_bytes() as i64
}

fn head_bytes(head: &Head) -> i64 {
    head.memory_bytes() as i64
}

impl Slot {
    /// Whether the conversation is in the state that a write applies to.
    pub(super) fn is_in(&self, state: Option<&Arc<Conversation>>) -> bool {
        let place = |state: &Arc<Conversation>| (state.head.revision, state.head.identity.lineage);
        self.state.as_ref().map(place) == state.map(place)
    }

    fn stored(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        let window = self.state.as_ref().and_then(|state| state.window.get(sequence));
        window.or_else(|| self.archive.get(&sequence))
    }

    pub(super) fn delta(&self, write: &Write) -> i64 {
        let Write::Change { change, after, .. } = write else { return -(self.bytes as i64) };
        let appended = change.appended.iter().map(|utterance| bytes(utterance)).sum::<i64>();
        let unkept = |utterance: &&Arc<Utterance>| change.dropped.contains(utterance.sequence);
        let unkept = change.appended.iter().filter(unkept).map(|utterance| bytes(utterance)).sum::<i64>();
        let rewritten = change.rewritten.iter().map(|utterance| self.growth(utterance)).sum::<i64>();
        let gone = self.bytes_of(&change.erased) + self.bytes_of(&change.dropped);
        let before = self.state.as_ref().map_or(0, |state| head_bytes(&state.head));
        appended - unkept + rewritten - gone + head_bytes(&after.head) - before
    }

    fn growth(&self, utterance: &Utterance) -> i64 {
        let before = self.stored(utterance.sequence);
        before.map_or(0, |before| bytes(utterance) - bytes(before))
    }

    fn bytes_of(&self, sequences: &Ranges) -> i64 {
        sequences.sequences().filter_map(|sequence| self.stored(sequence)).map(|u| bytes(u)).sum()
    }

    pub(super) fn write(&mut self, write: &Write) {
        let bytes = self.bytes as i64 + self.delta(write);
        self.bytes = u64::try_from(bytes).unwrap_or(0);
        match write {
            Write::Change { change, after, .. } => {
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
