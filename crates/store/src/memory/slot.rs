//! One conversation of the memory store: its state and its archive.

use std::{collections::BTreeMap, sync::Arc};

use super::archive::Archive;
use crate::Write;
use utterd_domain::{Change, Conversation, Head, Ranges, Sequence, Utterance, state::StateValue};

#[derive(Clone, Default)]
pub(super) struct Slot {
    pub(super) state: Option<Arc<Conversation>>,
    pub(super) archive: Archive,
    /// The values of its state.
    pub(super) values: BTreeMap<Box<str>, Arc<StateValue>>,
    /// The stored utterances whose bytes another conversation is charged for.
    foreign: Ranges,
    bytes: u64,
    /// Whether the slot is no longer in the map: its holder must then look it up again.
    pub(super) removed: bool,
}

fn bytes(utterance: &Utterance) -> i64 {
    utterance.memory_bytes() as i64
}

/// Returns the bytes of the head and the state; each name is also stored next to its value.
fn head_bytes(head: &Head) -> i64 {
    (head.memory_bytes() + head.state.len() * 128) as i64 + head.state_bytes() as i64
}

/// Returns the growth of a conversation's summary and compactions from one state to the next.
fn kept_growth(before: Option<&Arc<Conversation>>, after: &Conversation) -> i64 {
    let summary = |state: &Conversation| state.summary.memory_bytes() as i64;
    let compactions = |state: &Conversation| {
        state.compactions.iter().map(|compaction| compaction.memory_bytes() as i64).sum::<i64>()
    };
    let Some(before) = before else { return summary(after) + compactions(after) };
    let grown = summary(after) - summary(before);
    match Arc::ptr_eq(&before.compactions, &after.compactions) {
        true => grown,
        false => grown + compactions(after) - compactions(before),
    }
}

impl Slot {
    /// Whether the conversation is in the state that a write applies to.
    pub(super) fn is_in(&self, state: Option<&Arc<Conversation>>) -> bool {
        let change = |state: &Arc<Conversation>| state.head.change;
        self.state.as_ref().map(change) == state.map(change)
    }

    fn stored(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        let window = self.state.as_ref().and_then(|state| state.window.get(sequence));
        window.or_else(|| self.archive.get(sequence))
    }

    /// Returns the growth, with `write`, of the bytes that the conversation is charged for.
    pub(super) fn delta(&self, write: &Write) -> i64 {
        let Write::Change { changes, after, .. } = write else { return -(self.bytes as i64) };
        let places = 0..changes.len();
        let said: i64 = places.map(|at| self.change_delta(&changes[at], &changes[..at])).sum();
        let before = self.state.as_ref().map_or(0, |state| head_bytes(&state.head));
        said + head_bytes(&after.head) - before + kept_growth(self.state.as_ref(), after)
    }

    /// Returns the growth of the stored utterances by `change`, which follows `earlier`.
    fn change_delta(&self, change: &Change, earlier: &[Arc<Change>]) -> i64 {
        let unkept = |utterance: &&Arc<Utterance>| !change.dropped.contains(utterance.sequence);
        let appended = change.appended.iter().filter(unkept).map(|utterance| bytes(utterance)).sum::<i64>();
        let rewritten = change.rewritten.iter().map(|utterance| self.growth(utterance, change, earlier));
        let gone = [&change.erased, &change.dropped].map(|gone| self.charged_for(gone, earlier));
        appended + rewritten.sum::<i64>() - gone.iter().sum::<i64>()
    }

    /// Returns the bytes that rewriting an utterance adds: all of them, if the old version is charged to
    /// another conversation.
    fn growth(&self, utterance: &Utterance, change: &Change, earlier: &[Arc<Change>]) -> i64 {
        let sequence = utterance.sequence;
        let appended = || change.appended.iter().any(|appended| appended.sequence == sequence);
        match self.own(sequence, earlier) {
            Some(before) => bytes(utterance) - bytes(before),
            None if self.foreign.contains(sequence) => bytes(utterance),
            None if change.inherits.is_some() && !appended() => bytes(utterance),
            None => 0,
        }
    }

    /// Returns the bytes of the utterances among `sequences` that the conversation is charged for.
    fn charged_for(&self, sequences: &Ranges, earlier: &[Arc<Change>]) -> i64 {
        let own = sequences.sequences().filter_map(|sequence| self.own(sequence, earlier));
        own.map(|utterance| bytes(utterance)).sum()
    }

    /// Returns an utterance that the conversation is charged for, as of the changes in `earlier`.
    fn own<'a>(&'a self, sequence: Sequence, earlier: &'a [Arc<Change>]) -> Option<&'a Arc<Utterance>> {
        let written = earlier.iter().rev().flat_map(|change| change.rewritten.iter().chain(&change.appended));
        let written = written.into_iter().find(|utterance| utterance.sequence == sequence);
        written.or_else(|| self.stored(sequence).filter(|_| !self.foreign.contains(sequence)))
    }

    /// Returns the utterances that the conversation is charged for and no longer has after `write`, but that
    /// others may have; none if it was never forked.
    pub(super) fn released(&self, write: &Write) -> Ranges {
        let Some(state) = self.state.as_ref().filter(|state| !state.head.trunks.is_empty()) else {
            return Ranges::new();
        };
        let mut released = match write {
            Write::Delete { .. } => state.head.kept(),
            Write::Change { changes, .. } => replaced(changes),
        };
        released.subtract(&self.foreign);
        released
    }

    /// Returns the utterances of `released`, which `other` gives up, that this conversation also has and
    /// keeps after `write`; and their bytes.
    pub(super) fn inherited(&self, released: &Ranges, other: &Self, write: Option<&Write>) -> (Ranges, i64) {
        let mut wanted = released.intersection(&self.foreign);
        match write {
            Some(Write::Delete { .. }) => return Default::default(),
            Some(Write::Change { changes, .. }) => wanted.subtract(&replaced(changes)),
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

    /// Takes over utterances that another conversation gave up.
    pub(super) fn take_over(&mut self, inherited: &Ranges, bytes: i64) {
        self.foreign.subtract(inherited);
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    /// Applies a write. `inherited` is a fork's part of its parent's archive.
    pub(super) fn write(&mut self, write: &Write, inherited: Option<Archive>) {
        let delta = self.delta(write);
        self.bytes = self.bytes.saturating_add_signed(delta);
        match write {
            Write::Change { changes, after, .. } => {
                if let Some(inherited) = inherited {
                    self.archive = inherited;
                    self.foreign = after.head.kept();
                    let own = changes.iter().flat_map(|change| &change.appended);
                    own.for_each(|own| self.foreign.remove(own.sequence, own.sequence));
                }
                changes.iter().for_each(|change| self.change(change));
                self.foreign.subtract(&replaced(changes));
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
        change.state_deleted.iter().for_each(|name| drop(self.values.remove(name)));
        self.values.extend(change.state_set.iter().map(|value| (value.name.clone(), value.clone())));
    }
}

/// Returns the sequences that changes remove or rewrite.
fn replaced(changes: &[Arc<Change>]) -> Ranges {
    let mut replaced = Ranges::new();
    for change in changes {
        change.rewritten.iter().for_each(|utterance| replaced.add(utterance.sequence));
        replaced.union(&change.dropped);
        replaced.union(&change.erased);
    }
    replaced
}
