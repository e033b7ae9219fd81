//! The facts of a change, in references. The event and the outcome are both built from them, so a call and
//! its retries get the same facts as the trace.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::stored;
use utterd_domain::{
    Change, Conversation, ConversationId, Head, Ranges, Revision, Sequence, Timestamp, Utterance,
    capacity::Capacity, forget::erasure::InForks,
};
use utterd_store::Outcome;

/// The effects of a change, in references.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The revision after the change.
    pub revision: Revision,
    /// Whether the change started the conversation.
    pub started: bool,
    /// Utterances stored.
    pub memorized: Ranges,
    /// The other effects; `None` for most changes, which only store utterances.
    more: Option<Box<Effects>>,
}

/// The effects of a change other than storing utterances. Empty ones are absent in the stored form of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // the same names as in `Change`
pub struct Effects {
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub evicted: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub dropped: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub forgotten: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub erased: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub restored: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub updated: Ranges,
    #[serde(with = "stored", skip_serializing_if = "Ranges::is_empty")]
    pub returned: Ranges,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments_written: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments_removed: Vec<u32>,
    /// The number of the compaction made or undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<u32>,
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
        let more = Effects::of(change);
        Self {
            revision: after.revision,
            started: change.before == Revision::NONE && after.identity.is_listed(),
            memorized: sequences(&change.appended),
            more: (more != Effects::default()).then(|| Box::new(more)),
        }
    }

    /// Returns the facts of a change that stored `memorized` and did nothing else.
    #[cfg(test)]
    pub(crate) fn of_memorized(memorized: Ranges) -> Self {
        Self { memorized, ..Self::default() }
    }

    /// Creates facts from their stored form.
    pub(crate) fn read(revision: Revision, started: bool, memorized: Ranges, more: Effects) -> Self {
        let more = (more != Effects::default()).then(|| Box::new(more));
        Self { revision, started, memorized, more }
    }

    /// Returns the facts of a call that changed nothing.
    pub(crate) fn none(state: &Head) -> Self {
        Self { revision: state.revision, ..Self::default() }
    }

    /// Returns the approximate size of the facts in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let more = self.more.as_deref().map_or(0, |more| size_of::<Effects>() + more.memory_bytes());
        size_of::<Self>() + self.memorized.memory_bytes() + more
    }

    /// Returns the effects other than storing utterances.
    pub fn more(&self) -> &Effects {
        static NOTHING: LazyLock<Effects> = LazyLock::new(Effects::default);
        self.more.as_deref().unwrap_or(&NOTHING)
    }

    /// Returns the outcome of a call with these facts and the state `after`.
    pub(crate) fn outcome(&self, after: &Conversation, time: Timestamp, named: &Named) -> Outcome {
        let more = self.more();
        let mut restored = more.restored.clone();
        restored.union(&more.returned);
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
            evicted: more.evicted.clone(),
            forgotten: if more.erased.is_empty() { &more.forgotten } else { &more.erased }.clone(),
            restored,
            target: named.target,
            still_told: named.still_told.clone(),
            rebuilt_segments: more.segments_removed.len() as u32,
            capacity: Capacity::of(after),
            in_forks: named.in_forks,
            references: Vec::new(),
        }
    }
}

impl Effects {
    fn of(change: &Change) -> Self {
        Self {
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
}

impl Effects {
    fn memory_bytes(&self) -> usize {
        let sets = [&self.evicted, &self.dropped, &self.forgotten, &self.erased, &self.restored];
        let sets = sets.into_iter().chain([&self.updated, &self.returned]);
        let segments = self.segments_written.len() + self.segments_removed.len();
        sets.map(Ranges::memory_bytes).sum::<usize>() + segments * size_of::<u32>()
    }
}

fn sequences(utterances: &[Arc<Utterance>]) -> Ranges {
    utterances.iter().map(|utterance| utterance.sequence).collect()
}
