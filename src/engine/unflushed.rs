//! The archive as decisions see it: with what is handed to the store and not flushed yet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::domain::{Change, Ranges, Sequence, Utterance};

/// Changes that a store may or may not show yet, in their order.
pub(super) struct Unflushed(pub(super) Vec<Arc<Change>>);

impl Unflushed {
    /// Whether a fork is among them: it has an archive that no change lists.
    pub(super) fn inherits(&self) -> bool {
        self.0.iter().any(|change| change.inherits.is_some())
    }

    /// The archived utterances among `wanted`, when the store has `stored` of them.
    pub(super) fn archived(&self, wanted: &Ranges, stored: Vec<Arc<Utterance>>) -> Vec<Arc<Utterance>> {
        if self.0.is_empty() {
            return stored;
        }
        let by_sequence = stored.into_iter().map(|utterance| (utterance.sequence, utterance));
        let mut archive: BTreeMap<Sequence, Arc<Utterance>> = by_sequence.collect();
        for change in &self.0 {
            let evicted = change.evicted.iter().filter(|utterance| wanted.contains(utterance.sequence));
            archive.extend(evicted.map(|utterance| (utterance.sequence, utterance.clone())));
            for utterance in &change.rewritten {
                archive.entry(utterance.sequence).and_modify(|before| before.clone_from(utterance));
            }
            change.returned.iter().for_each(|utterance| drop(archive.remove(&utterance.sequence)));
            archive.retain(|sequence, _| !change.removes(*sequence));
        }
        archive.into_values().collect()
    }

    /// The sequences of archived utterances by the ids that clients gave them, among `wanted`, when
    /// the store has `stored` of them.
    pub(super) fn ids(
        &self,
        wanted: &[Box<str>],
        mut stored: HashMap<Box<str>, Sequence>,
    ) -> HashMap<Box<str>, Sequence> {
        for change in &self.0 {
            for utterance in &change.evicted {
                let id = utterance.given_id().and_then(|id| wanted.iter().find(|wanted| ***wanted == *id));
                stored.extend(id.map(|id| (id.clone(), utterance.sequence)));
            }
            let returned = |sequence| change.returned.iter().any(|utterance| utterance.sequence == sequence);
            stored.retain(|_, sequence| !change.removes(*sequence) && !returned(*sequence));
        }
        stored
    }
}
