//! The content of a memory store as records, for backups.

use std::{collections::HashMap, sync::Arc};

use super::slot::{Slot, Slots};
use crate::{
    Outcome, OutcomeKey, RecipientKey,
    delta::Delta,
    records::{Key, OutcomeName, Record},
};
use utterd_domain::{Conversation, ConversationId, LineageId, Sequence, Utterance};

/// Returns all records, by ascending key.
pub(super) fn of(
    slots: &Slots,
    active: HashMap<RecipientKey, ConversationId>,
    outcomes: HashMap<OutcomeKey, Arc<Outcome>>,
) -> Vec<(Key, Record)> {
    let mut noted = Noted::default();
    slots.values().for_each(|slot| noted.conversation(slot));
    for (recipient, id) in active {
        noted.add(Record::Active(recipient, id));
    }
    for (key, outcome) in outcomes {
        noted.add(Record::Outcomes(OutcomeName::of(&key), outcome));
    }
    noted.records.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    noted.records
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
