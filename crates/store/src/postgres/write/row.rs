//! The rows that a commit writes for one conversation, as values of columns.

use std::{collections::BTreeMap, sync::Arc};

use crate::postgres::{
    types::{Time, Uuid, number},
    whole::computed::Computed,
};
use crate::{
    Outcome, OutcomeKey, PointerWrite,
    durable::records::{
        self, ConversationName, Description, Descriptions, Endings, HeadRecord, Heads, Kind, OutcomeName,
        Outcomes, Policies, Segments, Utterances,
    },
};
use utterd_domain::{
    Change, Conversation, ConversationKey, Head, Ranges, Sequence, Utterance, compaction::Compaction,
    segment::Segment, state::StateValue,
};

/// The new row of a conversation, and the rows that are written and removed with it. Columns that did not
/// change are `None`.
#[derive(Clone)]
pub struct Row {
    pub namespace: String,
    pub id: String,
    pub basis: Basis,
    pub computed: Computed,
    /// Whether the conversation reads other lineages than before.
    pub is_elsewhere: bool,
    /// The lineage that utterances are written to.
    pub branch: Uuid,
    pub head: Vec<u8>,
    pub policy: Option<Vec<u8>>,
    /// The description; `Some(None)` if it is now empty.
    pub description: Option<Option<Vec<u8>>>,
    pub ending: Option<Vec<u8>>,
    /// The events of the whole commit, one per line, if this is the commit's first row.
    pub events: Option<String>,
    /// The ranges of removed utterances: the first sequence of each, and the one behind its last.
    pub removed: Vec<(i64, i64)>,
    pub utterances: Vec<UtteranceRow>,
    /// Segments that are removed.
    pub removed_segments: Vec<i64>,
    pub segments: Vec<(i64, Vec<u8>)>,
    pub outcomes: Vec<OutcomeRow>,
    pub pointers: Vec<PointerRow>,
}

/// The state that the row replaces.
#[derive(Clone)]
pub enum Basis {
    /// The conversation in this state.
    State(Uuid),
    /// No state: the conversation is created, with this identity.
    Nothing(Vec<u8>),
}

/// A row of `utterances`.
#[derive(Clone)]
pub struct UtteranceRow {
    pub sequence: i64,
    pub given_id: Option<String>,
    pub record: Vec<u8>,
}

/// A row of `outcomes`.
#[derive(Clone)]
pub struct OutcomeRow {
    pub namespace: String,
    pub request: String,
    pub rpc: &'static str,
    pub time: Time,
    pub record: Vec<u8>,
}

/// A pointer that must stay as it is.
#[derive(Clone)]
pub struct PointerRow {
    pub namespace: String,
    pub recipient: String,
    pub conversation: String,
}

impl Row {
    /// Returns the row of a conversation that changed from `before` to `after`, with what `net` writes and
    /// removes.
    pub fn of(before: Option<&Conversation>, after: &Conversation, net: &Net) -> Self {
        let head = &after.head;
        let (identity, lineage) = (&head.identity, head.identity.lineage);
        let [namespace, id] = names(&identity.key);
        let was = before.map(|before| &before.head);
        let policy = was.is_none_or(|was| was.policy != head.policy);
        let is_same_end = |was: &Head| was.ended.is_some() && was.ended == head.ended;
        let ending = head.ended.as_ref().filter(|_| !was.is_some_and(is_same_end));
        let (removed_segments, segments) = parted(&net.segments);
        Self {
            namespace,
            id,
            basis: was.map_or_else(|| Basis::of(head), |was| Basis::State(Uuid(was.change.0))),
            computed: Computed::of(head, after.awaits_since()),
            is_elsewhere: was.is_none_or(|was| was.branch != head.branch || was.trunks != head.trunks),
            branch: Uuid(head.branch.0),
            head: value::<Heads>(&lineage, &HeadRecord::of(head, &after.summary)),
            policy: policy.then(|| value::<Policies>(&lineage, &head.policy)),
            description: description(was, head),
            ending: ending.map(|ending| value::<Endings>(&lineage, ending)),
            events: None,
            removed: net
                .removed
                .iter()
                .map(|range| (number(*range.start()), number(range.end().next())))
                .collect(),
            utterances: utterances(head, net),
            removed_segments: removed_segments.into_iter().map(i64::from).collect(),
            segments: segments
                .iter()
                .map(|(number, it)| (i64::from(**number), value::<Segments>(&(lineage, **number), it)))
                .collect(),
            outcomes: Vec::new(),
            pointers: Vec::new(),
        }
    }

    /// The conversation's namespace and id.
    pub fn name(&self) -> (&str, &str) {
        (&self.namespace, &self.id)
    }

    /// Whether the row is small enough to share a batch.
    pub fn is_small(&self) -> bool {
        const SMALL: usize = 64 << 10;
        let utterances: usize = self.utterances.iter().map(|it| it.record.len()).sum();
        let segments: usize = self.segments.iter().map(|(_, record)| record.len()).sum();
        self.head.len() + utterances + segments <= SMALL
    }

    /// Adds the outcomes to store with the row, and the pointers that must stay.
    pub fn with(mut self, outcomes: &[(OutcomeKey, Arc<Outcome>)], pointers: &[PointerWrite]) -> Self {
        self.outcomes = outcomes.iter().map(|(key, outcome)| OutcomeRow::of(key, outcome)).collect();
        self.pointers = pointers.iter().map(PointerRow::of).collect();
        self
    }
}

impl Basis {
    fn of(head: &Head) -> Self {
        Self::Nothing(value::<ConversationName>(&head.identity.key, &head.identity))
    }

    pub fn state(&self) -> Option<Uuid> {
        match self {
            Self::State(state) => Some(*state),
            Self::Nothing(_) => None,
        }
    }

    pub fn identity(&self) -> Option<&[u8]> {
        match self {
            Self::State(_) => None,
            Self::Nothing(identity) => Some(identity),
        }
    }
}

impl OutcomeRow {
    pub fn of(key: &OutcomeKey, outcome: &Outcome) -> Self {
        Self {
            namespace: key.namespace.as_str().to_owned(),
            request: key.request.as_str().to_owned(),
            rpc: key.rpc,
            time: Time(outcome.time),
            record: value::<Outcomes>(&OutcomeName::of(key), outcome),
        }
    }
}

impl PointerRow {
    fn of(pointer: &PointerWrite) -> Self {
        Self {
            namespace: pointer.recipient.namespace.as_str().to_owned(),
            recipient: pointer.recipient.id.as_str().to_owned(),
            conversation: pointer.before.as_ref().map_or("", |id| id.as_str()).to_owned(),
        }
    }
}

fn description(was: Option<&Head>, head: &Head) -> Option<Option<Vec<u8>>> {
    let (described, is) = (was.map(Description::of).unwrap_or_default(), Description::of(head));
    let record = || (!is.is_empty()).then(|| value::<Descriptions>(&head.identity.lineage, &is));
    (described != is).then(record)
}

fn utterances(head: &Head, net: &Net) -> Vec<UtteranceRow> {
    let utterances = net.utterances.iter().map(|(sequence, utterance)| UtteranceRow {
        sequence: number(*sequence),
        given_id: utterance.given_id().map(str::to_owned),
        record: value::<Utterances>(&(head.branch, *sequence), utterance),
    });
    utterances.collect()
}

/// The net writes and removals of a series of changes.
#[derive(Default)]
pub struct Net {
    pub removed: Ranges,
    pub utterances: BTreeMap<Sequence, Arc<Utterance>>,
    pub segments: BTreeMap<u32, Option<Arc<Segment>>>,
    pub compactions: BTreeMap<u32, Option<Arc<Compaction>>>,
    pub state: BTreeMap<Box<str>, Option<Arc<StateValue>>>,
}

impl Net {
    pub fn of(changes: &[Arc<Change>]) -> Self {
        let mut net = Self::default();
        changes.iter().for_each(|change| net.add(change));
        net
    }

    fn add(&mut self, change: &Change) {
        let written = change.appended.iter().chain(&change.rewritten);
        self.utterances.extend(written.map(|utterance| (utterance.sequence, utterance.clone())));
        self.utterances.retain(|sequence, _| !change.removes(*sequence));
        [&change.dropped, &change.erased].into_iter().for_each(|removed| self.removed.union(removed));
        self.segments.extend(written_and_removed(
            change.segments_written.iter().map(|segment| (segment.number, segment.clone())),
            &change.segments_removed,
        ));
        self.compactions.extend(written_and_removed(
            change.compactions_written.iter().map(|compaction| (compaction.number, compaction.clone())),
            &change.compactions_removed,
        ));
        self.state.extend(written_and_removed(
            change.state_set.iter().map(|value| (value.name.clone(), value.clone())),
            &change.state_deleted,
        ));
    }
}

fn written_and_removed<K: Clone, V>(
    written: impl Iterator<Item = (K, V)>,
    removed: &[K],
) -> impl Iterator<Item = (K, Option<V>)> {
    let removed = removed.iter().map(|key| (key.clone(), None));
    written.map(|(key, value)| (key, Some(value))).chain(removed)
}

/// Returns the removed keys, and the written values by key.
pub fn parted<K: Clone, V>(net: &BTreeMap<K, Option<V>>) -> (Vec<K>, Vec<(&K, &V)>) {
    let removed = net.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key.clone()).collect();
    let written = net.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    (removed, written)
}

/// Encodes a record's value as the durable stores do.
pub fn value<K: Kind>(key: &K::Key, value: &K::Value) -> Vec<u8> {
    records::pair::<K>(key, value).1
}

pub fn names(key: &ConversationKey) -> [String; 2] {
    [key.namespace.as_str(), key.id.as_str()].map(str::to_owned)
}
