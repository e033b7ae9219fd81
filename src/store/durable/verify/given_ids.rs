//! The ids that clients gave, and the utterances that have them.

use super::{set_hash::SetHash, survey::Findings};
use crate::{
    domain::{LineageId, Sequence},
    store::durable::records::{self, GivenIds, Kind, Utterances},
};

/// Pairs of an id and the sequence that it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids(SetHash);

impl Ids {
    pub(super) fn add(&mut self, id: &str, sequence: Sequence) {
        self.0.add(&[&sequence.0.to_be_bytes(), id.as_bytes()].concat());
    }
}

/// Names the ids of a conversation that do not lead to their utterances.
pub(super) fn compare(lineage: LineageId, findings: &mut Findings<'_, '_>) {
    let stored = |key: &[u8]| findings.survey.pairs.get(key).ok().flatten();
    let mut wrong = Vec::new();
    for (key, value) in pairs(&records::of_lineage::<Utterances>(lineage), findings) {
        let Ok(((_, sequence), utterance)) = records::decode::<Utterances>(&key, &value) else { continue };
        let Some(id) = utterance.given_id() else { continue };
        wrong.extend(check_utterance(lineage, sequence, id, &stored));
    }
    for (key, value) in pairs(&records::of_lineage::<GivenIds>(lineage), findings) {
        let Ok(((_, id), sequence)) = records::decode::<GivenIds>(&key, &value) else { continue };
        wrong.extend(check_entry(lineage, &id, sequence, &stored));
    }
    wrong.into_iter().for_each(|what| findings.add(what));
}

fn pairs(prefix: &[u8], findings: &Findings<'_, '_>) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    // What cannot be read was noted before.
    findings.survey.from(prefix, prefix).map_while(Result::ok)
}

/// An utterance's id leads to it.
fn check_utterance(
    lineage: LineageId,
    sequence: Sequence,
    id: &str,
    stored: &impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Option<String> {
    let Some(entry) = read::<GivenIds>(&(lineage, id.into()), stored) else {
        return Some(format!("the id {id:?} does not lead to utterance {sequence}, which has it"));
    };
    let other = entry.filter(|other| *other != sequence)?;
    let has_it = read::<Utterances>(&(lineage, other), stored)??.given_id() == Some(id);
    has_it.then(|| format!("the utterances {other} and {sequence} have the same id {id:?}"))
}

/// The utterance that an id leads to has it.
fn check_entry(
    lineage: LineageId,
    id: &str,
    sequence: Sequence,
    stored: &impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Option<String> {
    match read::<Utterances>(&(lineage, sequence), stored) {
        None => Some(format!("the id {id:?} leads to utterance {sequence}, which is not stored")),
        Some(Some(utterance)) if utterance.given_id() != Some(id) => {
            Some(format!("the id {id:?} leads to utterance {sequence}, which has another id"))
        }
        Some(_) => None,
    }
}

/// What is stored under a key: nothing, something that cannot be read, or a value.
fn read<K: Kind>(key: &K::Key, stored: &impl Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Option<K::Value>> {
    let key = records::key::<K>(key);
    let value = stored(&key)?;
    Some(records::decode::<K>(&key, &value).ok().map(|(_, value)| value))
}
