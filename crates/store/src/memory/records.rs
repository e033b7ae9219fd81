//! The content of a memory store as records, for backups.

use std::{collections::HashMap, sync::Arc};

use super::{MemoryStore, slot::Slot};
use crate::{
    Outcome, OutcomeKey, RecipientKey,
    delta::Delta,
    records::{Key, OutcomeName, Record},
};
use utterd_domain::{Conversation, ConversationId, LineageId, Sequence, Utterance};

/// What is stored at one moment.
struct Moment {
    slots: Vec<Slot>,
    active: HashMap<RecipientKey, ConversationId>,
    outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
}

impl MemoryStore {
    /// Returns all records as of one moment, by ascending key.
    pub(super) fn records(&self) -> Vec<(Key, Record)> {
        let Moment { slots, active, outcomes } = self.moment();
        let mut noted = Noted::default();
        slots.iter().for_each(|slot| noted.conversation(slot));
        for (recipient, id) in active {
            noted.add(Record::Active(recipient, id));
        }
        for (key, outcome) in outcomes {
            noted.add(Record::Outcomes(OutcomeName::of(&key), outcome));
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
    records: Vec<(Key, Record)>,
    /// The utterances that conversations may share, by the lineage that they are noted for.
    shared: HashMap<(LineageId, Sequence), Arc<Utterance>>,
}

impl Noted {
    fn add(&mut self, record: Record) {
        self.records.push((record.key(), record));
    }

    fn conversation(&mut self, slot: &Slot) {
        let Some(state) = &slot.state else { return };
        let records = Delta::of_whole(state, slot.values.values()).records.into_iter();
        self.records.extend(records.filter_map(|(key, record)| Some((key, record?))));
        for utterance in state.window.iter().chain(slot.archive.iter()) {
            self.utterance(state, utterance);
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
        self.add(Record::Utterances((lineage, sequence), utterance.clone()));
    }
}
