//! One conversation of the memory store: its state, and its archive.

use std::sync::Arc;

use super::archive::Archive;
use crate::{
    domain::{Change, Conversation, Head, Ranges, Sequence, Utterance},
    store::Write,
};

#[derive(Default)]
pub(super) struct Slot {
    pub(super) state: Option<Arc<Conversation>>,
    pub(super) archive: Archive,
    /// Of the utterances stored, those whose bytes another conversation is charged for.
    foreign: Ranges,
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

/// What a state takes, beside its head and what was said, for what models told and compactions keep.
fn kept_bytes(state: &Conversation) -> i64 {
    let compactions = state.compactions.iter().map(|compaction| compaction.memory_bytes());
    (state.summary.llm_bytes() + compactions.sum::<usize>()) as i64
}

/// By how much that grows from one state to the next.
fn kept_growth(before: Option<&Arc<Conversation>>, after: &Conversation) -> i64 {
    match before {
        Some(before)
            if Arc::ptr_eq(&before.compactions, &after.compactions)
                && before.summary.llm_bytes() == after.summary.llm_bytes() =>
        {
            0
        }
        before => kept_bytes(after) - before.map_or(0, |before| kept_bytes(before)),
    }
}

impl Slot {
    /// Whether the conversation is in the state that a write applies to.
    pub(super) fn is_in(&self, state: Option<&Arc<Conversation>>) -> bool {
        let place = |state: &Arc<Conversation>| (state.head.revision, state.head.identity.lineage);
        self.state.as_ref().map(place) == state.map(place)
    }

    fn stored(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        let window = self.state.as_ref().and_then(|state| state.window.get(sequence));
        window.or_else(|| self.archive.get(sequence))
    }

    /// By how many bytes the conversation is charged more after `write`.
    pub(super) fn delta(&self, write: &Write) -> i64 {
        let Write::Change { change, after, .. } = write else { return -(self.bytes as i64) };
        let appended = change.appended.iter().map(|utterance| bytes(utterance)).sum::<i64>();
        let unkept = |utterance: &&Arc<Utterance>| change.dropped.contains(utterance.sequence);
        let unkept = change.appended.iter().filter(unkept).map(|utterance| bytes(utterance)).sum::<i64>();
        let rewritten = change.rewritten.iter().map(|utterance| self.growth(utterance, change)).sum::<i64>();
        let gone = self.charged_for(&change.erased) + self.charged_for(&change.dropped);
        let before = self.state.as_ref().map_or(0, |state| head_bytes(&state.head));
        let kept = kept_growth(self.state.as_ref(), after);
        appended - unkept + rewritten - gone + head_bytes(&after.head) - before + kept
    }

    /// What storing an utterance anew adds: all of it, when what was there is another's.
    fn growth(&self, utterance: &Utterance, change: &Change) -> i64 {
        let sequence = utterance.sequence;
        let appended = || change.appended.iter().any(|appended| appended.sequence == sequence);
        match self.stored(sequence) {
            Some(_) if self.foreign.contains(sequence) => bytes(utterance),
            Some(before) => bytes(utterance) - bytes(before),
            None if change.inherits.is_some() && !appended() => bytes(utterance),
            None => 0,
        }
    }

    /// The bytes of those among `sequences` that the conversation is charged for.
    fn charged_for(&self, sequences: &Ranges) -> i64 {
        let own = sequences.sequences().filter(|sequence| !self.foreign.contains(*sequence));
        own.filter_map(|sequence| self.stored(sequence)).map(|utterance| bytes(utterance)).sum()
    }

    /// The utterances that the conversation is charged for, and that it has no more after `write`,
    /// though others may: none of one that was never forked.
    pub(super) fn released(&self, write: &Write) -> Ranges {
        let Some(state) = self.state.as_ref().filter(|state| !state.head.trunks.is_empty()) else {
            return Ranges::new();
        };
        let mut released = match write {
            Write::Delete { .. } => state.head.kept(),
            Write::Change { change, .. } => replaced(change),
        };
        released.subtract(&self.foreign);
        released
    }

    /// Those of `released`, which `other` gives up, that this conversation has too and keeps after
    /// `write`; and their bytes.
    pub(super) fn inherited(&self, released: &Ranges, other: &Self, write: Option<&Write>) -> (Ranges, i64) {
        let mut wanted = released.intersection(&self.foreign);
        match write {
            Some(Write::Delete { .. }) => return Default::default(),
            Some(Write::Change { change, .. }) => wanted.subtract(&replaced(change)),
            None => {}
        }
        let both = |sequence: &Sequence| match (self.stored(*sequence), other.stored(*sequence)) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        };
        let inherited: Ranges = wanted.sequences().filter(both).collect();
        let bytes = inherited.sequences().filter_map(|sequence| self.stored(sequence)).map(|u| bytes(u));
        let bytes = bytes.sum();
        (inherited, bytes)
    }

    /// Takes over what another conversation gave up.
    pub(super) fn take_over(&mut self, inherited: &Ranges, bytes: i64) {
        self.foreign.subtract(inherited);
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    /// Applies a write. `inherited` is what a fork has of its parent's archive.
    pub(super) fn write(&mut self, write: &Write, inherited: Option<Archive>) {
        let delta = self.delta(write);
        self.bytes = self.bytes.saturating_add_signed(delta);
        match write {
            Write::Change { change, after, .. } => {
                if let Some(inherited) = inherited {
                    self.archive = inherited;
                    self.foreign = after.head.kept();
                    change.appended.iter().for_each(|own| self.foreign.remove(own.sequence, own.sequence));
                }
                self.change(change);
                self.state = Some(after.clone());
            }
            Write::Delete { .. } => *self = Self::default(),
        }
    }

    fn change(&mut self, change: &Change) {
        self.archive.remove(&change.returned.iter().map(|utterance| utterance.sequence).collect());
        change.evicted.iter().for_each(|utterance| self.archive.keep(utterance));
        for utterance in &change.rewritten {
            if self.archive.get(utterance.sequence).is_some() {
                self.archive.keep(utterance);
            }
        }
        self.archive.remove(&change.dropped);
        self.archive.remove(&change.erased);
        self.foreign.subtract(&replaced(change));
    }
}

/// What is removed, or stored anew.
fn replaced(change: &Change) -> Ranges {
    let mut replaced: Ranges = change.rewritten.iter().map(|utterance| utterance.sequence).collect();
    replaced.union(&change.dropped);
    replaced.union(&change.erased);
    replaced
}
