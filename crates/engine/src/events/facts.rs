//! The facts of a change, in references. The event and the outcome are both built from them, so a call and
//! its retries get the same facts as the trace.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use utterd_domain::{
    Change, Conversation, ConversationId, Head, Ranges, Revision, Sequence, Timestamp, Utterance,
    capacity::Capacity, forget::erasure::InForks,
};
use utterd_store::Outcome;

/// The effects of a change, in references. Those that it did not have are absent in the stored form of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // most have the same names as in `Change`
pub struct Facts {
    /// The revision after the change.
    #[serde(skip_serializing_if = "is_default")]
    pub revision: Revision,
    /// Whether the change started the conversation.
    #[serde(skip_serializing_if = "is_default")]
    pub started: bool,
    /// Utterances stored.
    #[serde(skip_serializing_if = "is_default")]
    pub memorized: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub evicted: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub forgotten: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub erased: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub restored: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub updated: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub returned: Ranges,
    #[serde(skip_serializing_if = "is_default")]
    pub segments_written: Vec<u32>,
    #[serde(skip_serializing_if = "is_default")]
    pub segments_removed: Vec<u32>,
    /// The number of the compaction made or undone.
    #[serde(skip_serializing_if = "is_default")]
    pub compaction: Option<u32>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What an outcome names besides the facts of a change.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The utterance the call is about.
    pub target: Option<Sequence>,
    /// Utterances to be forgotten that are no longer stored, but that the summary still covers.
    pub still_told: Ranges,
    /// What a hard forget removed from other conversations.
    pub in_forks: Option<InForks>,
    /// Utterances that the outcome names and the change may not contain, ascending.
    pub utterances: Vec<Arc<Utterance>>,
}

impl Named {
    /// Returns what the outcome of a call about one utterance names.
    pub fn about(utterance: Arc<Utterance>) -> Self {
        Self { target: Some(utterance.sequence), utterances: vec![utterance], ..Self::default() }
    }
}

impl Facts {
    /// Returns the facts of the change that led to `after`.
    pub(crate) fn of(change: &Change, after: &Head) -> Self {
        Self {
            revision: after.revision,
            started: change.before == Revision::NONE && after.identity.is_listed(),
            memorized: sequences(&change.appended),
            evicted: sequences(&change.evicted),
            dropped: change.dropped.clone(),
            forgotten: change.forgotten.clone(),
            erased: change.erased.clone(),
            restored: change.restored.clone(),
            updated: change.updated.clone(),
            returned: sequences(&change.returned),
            segments_written: change.segments_written.iter().map(|segment| segment.number).collect(),
            segments_removed: change.segments_removed.clone(),
            compaction: change.compaction,
        }
    }

    /// Returns the facts of a call that changed nothing.
    pub(crate) fn none(state: &Head) -> Self {
        Self { revision: state.revision, ..Self::default() }
    }

    /// Returns the approximate size of the facts in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sets = [&self.memorized, &self.evicted, &self.dropped, &self.forgotten, &self.erased];
        let sets = sets.into_iter().chain([&self.restored, &self.updated, &self.returned]);
        let segments = self.segments_written.len() + self.segments_removed.len();
        size_of::<Self>() + sets.map(Ranges::memory_bytes).sum::<usize>() + segments * size_of::<u32>()
    }

    /// Returns the outcome of a call with these facts and the state `after`.
    pub(crate) fn outcome(&self, after: &Conversation, time: Timestamp, named: &Named) -> Outcome {
        let mut restored = self.restored.clone();
        restored.union(&self.returned);
        Outcome {
            body: 0,
            time,
            conversation: match after.head.identity.is_listed() {
                true => after.key().id.clone(),
                false => ConversationId::of_some_state(),
            },
            revision: self.revision,
            started: self.started,
            ended: None,
            memorized: self.memorized.clone(),
            evicted: self.evicted.clone(),
            forgotten: if self.erased.is_empty() { &self.forgotten } else { &self.erased }.clone(),
            restored,
            target: named.target,
            still_told: named.still_told.clone(),
            rebuilt_segments: self.segments_removed.len() as u32,
            capacity: Capacity::of(after),
            in_forks: named.in_forks,
            references: Vec::new(),
        }
    }
}

fn sequences(utterances: &[Arc<Utterance>]) -> Ranges {
    utterances.iter().map(|utterance| utterance.sequence).collect()
}
