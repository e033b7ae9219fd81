//! The content of a memory store as records, for backups.

use std::{collections::HashMap, ops::Deref, sync::Arc};

use super::{MemoryStore, slot::Slot};
use crate::{
    Outcome, OutcomeKey, RecipientKey,
    durable::{
        key_value::{Key, Value},
        records::{
            self, Active, Compactions, ConversationName, Description, Descriptions, Endings, HeadRecord,
            Heads, Kind, LineageReader, OutcomeName, Outcomes, Policies, Readers, Segments, StateName,
            StateValues, Utterances,
        },
    },
};
use utterd_domain::{Conversation, ConversationId, LineageId, Sequence, Utterance};

/// The key of a record, and the record, encoded once it is asked for.
type Pending = (Key, Box<dyn FnOnce() -> (Key, Value) + Send>);

/// What is stored at one moment.
struct Moment {
    slots: Vec<Slot>,
    active: HashMap<RecipientKey, ConversationId>,
    outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
}

impl MemoryStore {
    /// Returns all records as of one moment, by ascending key.
    pub(super) fn records(&self) -> Vec<Pending> {
        let Moment { slots, active, outcomes } = self.moment();
        let mut noted = Noted::default();
        slots.iter().for_each(|slot| noted.conversation(slot));
        for (recipient, id) in active {
            noted.add::<Active, _>(recipient, Box::new(id));
        }
        for (key, outcome) in outcomes {
            noted.add::<Outcomes, _>(OutcomeName::of(&key), outcome);
        }
        noted.records.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        noted.records
    }

    /// Returns what is stored between two commits, which wait meanwhile.
    fn moment(&self) -> Moment {
        let _alone = self.committing.write();
        let slots = self.conversations.iter().map(|slot| slot.lock().clone()).collect();
        let indexes = self.indexes.lock();
        Moment { slots, active: indexes.active.clone(), outcomes: indexes.outcomes.clone() }
    }
}

#[derive(Default)]
struct Noted {
    records: Vec<Pending>,
    /// The utterances that conversations may share, by the lineage that they are noted for.
    shared: HashMap<(LineageId, Sequence), Arc<Utterance>>,
}

impl Noted {
    fn add<K, V>(&mut self, key: K::Key, value: V)
    where
        K: Kind<Key: Send + 'static> + 'static,
        V: Deref<Target = K::Value> + Send + 'static,
    {
        self.records.push((records::key::<K>(&key), Box::new(move || records::pair::<K>(&key, &value))));
    }

    fn conversation(&mut self, slot: &Slot) {
        let Some(state) = &slot.state else { return };
        self.head(state);
        for segment in state.summary.segments() {
            self.add::<Segments, _>((state.head.identity.lineage, segment.number), segment.clone());
        }
        for compaction in state.compactions.iter() {
            self.add::<Compactions, _>((state.head.identity.lineage, compaction.number), compaction.clone());
        }
        for value in slot.values.values() {
            let name = StateName(value.name.clone());
            self.add::<StateValues, _>((state.head.identity.lineage, name), value.clone());
        }
        for utterance in state.window.iter().chain(slot.archive.iter()) {
            self.utterance(state, utterance);
        }
    }

    fn head(&mut self, state: &Arc<Conversation>) {
        let head = &state.head;
        let (identity, lineage) = (head.identity.clone(), head.identity.lineage);
        for trunk in head.trunks.iter() {
            let reader = LineageReader { conversation: identity.key.clone(), through: trunk.through };
            self.add::<Readers, _>((trunk.lineage, lineage), Box::new(reader));
        }
        self.add::<ConversationName, _>(identity.key.clone(), identity);
        let whole = state.clone();
        let record = move || records::pair::<Heads>(&lineage, &HeadRecord::of(&whole.head, &whole.summary));
        self.records.push((records::key::<Heads>(&lineage), Box::new(record)));
        self.add::<Policies, _>(lineage, Box::new(head.policy.clone()));
        let description = Description::of(head);
        if !description.is_empty() {
            self.add::<Descriptions, _>(lineage, Box::new(description));
        }
        if let Some(ending) = &head.ended {
            self.add::<Endings, _>(lineage, ending.clone());
        }
    }

    /// Notes an utterance for the oldest trunk that the conversation reads it from, if all that read it there have the
    /// same one, and else for its branch.
    fn utterance(&mut self, state: &Conversation, utterance: &Arc<Utterance>) {
        let (head, sequence) = (&state.head, utterance.sequence);
        let trunk = head.trunks.iter().find(|trunk| sequence <= trunk.through);
        let lineage = match trunk.map(|trunk| (trunk.lineage, sequence)) {
            None => head.branch,
            Some(at) => match self.shared.get(&at) {
                Some(same) if Arc::ptr_eq(same, utterance) => return,
                Some(_) => head.branch,
                None => {
                    self.shared.insert(at, utterance.clone());
                    at.0
                }
            },
        };
        self.add::<Utterances, _>((lineage, sequence), utterance.clone());
    }
}
