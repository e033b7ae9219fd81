//! One conversation of the memory store: its state and its archive.

use std::{collections::BTreeMap, sync::Arc};

use super::archive::Archive;
use crate::Write;
use utterd_domain::{Change, Conversation, Head, Sequence, Utterance, state::StateValue};

#[derive(Clone, Default)]
pub(super) struct Slot {
    pub(super) state: Option<Arc<Conversation>>,
    pub(super) archive: Archive,
    /// The values of its state.
    pub(super) values: BTreeMap<Box<str>, Arc<StateValue>>,
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

    /// Whether the conversation has exactly this utterance, and keeps it after `write`, if there is one.
    pub(super) fn keeps(&self, utterance: &Arc<Utterance>, write: Option<&Write>) -> bool {
        let stays = match write {
            None => true,
            Some(Write::Delete { .. }) => false,
            Some(Write::Change { changes, .. }) => !replaces(changes, utterance.sequence),
        };
        stays && self.stored(utterance.sequence).is_some_and(|stored| Arc::ptr_eq(stored, utterance))
    }

    /// Returns the bytes that `write` adds to the memory in use: negative if it frees some. What other conversations
    /// share stays.
    pub(super) fn delta(&self, write: &Write, is_shared: &dyn Fn(&Arc<Utterance>) -> bool) -> i64 {
        let freed = |utterance: &Arc<Utterance>| if is_shared(utterance) { 0 } else { bytes(utterance) };
        match write {
            Write::Delete { before } => {
                let stored = before.window.iter().chain(self.archive.iter()).map(freed).sum::<i64>();
                -(stored + head_bytes(&before.head) + kept_growth(None, before))
            }
            Write::Change { changes, after, .. } => {
                let places = 0..changes.len();
                let change = |at: usize| self.change_delta(&changes[at], &changes[..at], &freed);
                let before = self.state.as_ref().map_or(0, |state| head_bytes(&state.head));
                let kept = kept_growth(self.state.as_ref(), after);
                places.map(change).sum::<i64>() + head_bytes(&after.head) - before + kept
            }
        }
    }

    /// Returns the growth of the stored utterances by `change`, which follows `earlier`.
    fn change_delta(
        &self,
        change: &Change,
        earlier: &[Arc<Change>],
        freed: &dyn Fn(&Arc<Utterance>) -> i64,
    ) -> i64 {
        // the bytes of an utterance that are freed, as of the earlier changes; `None` if there is none
        let freed = |sequence: Sequence| {
            let written =
                earlier.iter().rev().flat_map(|change| change.rewritten.iter().chain(&change.appended));
            match written.into_iter().find(|utterance| utterance.sequence == sequence) {
                Some(written) => Some(bytes(written)),
                None => self.stored(sequence).map(freed),
            }
        };
        let unkept = |utterance: &&Arc<Utterance>| !change.dropped.contains(utterance.sequence);
        let appended = change.appended.iter().filter(unkept).map(|utterance| bytes(utterance)).sum::<i64>();
        let is_appended = |sequence| change.appended.iter().any(|appended| appended.sequence == sequence);
        let rewritten = change.rewritten.iter().map(|utterance| match freed(utterance.sequence) {
            Some(before) => bytes(utterance) - before,
            None if change.inherits.is_some() && !is_appended(utterance.sequence) => bytes(utterance),
            None => 0,
        });
        let gone = [&change.erased, &change.dropped].into_iter().flat_map(|gone| gone.sequences());
        appended + rewritten.sum::<i64>() - gone.filter_map(freed).sum::<i64>()
    }

    /// Applies a write. `inherited` is a fork's part of its parent's archive.
    pub(super) fn write(&mut self, write: &Write, inherited: Option<Archive>) {
        let Write::Change { changes, after, .. } = write else { return *self = Self::default() };
        self.archive = inherited.unwrap_or_else(|| std::mem::take(&mut self.archive));
        changes.iter().for_each(|change| self.change(change));
        self.state = Some(after.clone());
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

/// Whether changes remove or rewrite an utterance.
fn replaces(changes: &[Arc<Change>], sequence: Sequence) -> bool {
    changes.iter().any(|change| {
        change.dropped.contains(sequence)
            || change.erased.contains(sequence)
            || change.rewritten.iter().any(|utterance| utterance.sequence == sequence)
    })
}

/// Whether the write may give up utterances that others share.
pub(super) fn gives_up(write: &Write) -> bool {
    write.before().is_some_and(|state| !state.head.trunks.is_empty())
}
