//! References to the utterances that an outcome names, as they are when the call takes effect.

use std::sync::Arc;

use utterd_domain::{Change, Conversation, Ranges, Sequence, Utterance, limits::MAX_REFERENCE_BYTES};
use utterd_store::{Outcome, Reference};

/// The bytes of the numbers and tags of a reference in an answer; the bytes of its id are added.
const NUMBERS: usize = 40;

/// The lists of utterances to search, each ascending.
pub struct Among<'a>(Vec<&'a [Arc<Utterance>]>);

impl<'a> Among<'a> {
    /// Searches `named` and the utterances that a change contains.
    pub fn of(named: &'a [Arc<Utterance>], change: Option<&'a Change>) -> Self {
        let changed = change.into_iter().flat_map(|change| {
            [&change.appended, &change.evicted, &change.returned, &change.rewritten].map(Vec::as_slice)
        });
        Self(std::iter::once(named).chain(changed).collect())
    }

    pub fn find(&self, sequence: Sequence) -> Option<&'a Arc<Utterance>> {
        self.0.iter().find_map(|utterances| {
            let place = utterances.binary_search_by_key(&sequence, |utterance| utterance.sequence).ok()?;
            utterances.get(place)
        })
    }
}

/// Returns the references of an outcome: for each of its sets, the first utterances whose references take at
/// most [`MAX_REFERENCE_BYTES`].
pub fn references(outcome: &Outcome, among: &Among<'_>, after: &Conversation) -> Vec<Reference> {
    let first = |set: &Ranges| -> Vec<Reference> {
        let mut bytes = 0;
        let found = set.sequences().filter_map(|sequence| among.find(sequence));
        let fitting = found.take_while(|utterance| {
            bytes += NUMBERS + utterance.given_id().map_or(0, str::len);
            bytes <= MAX_REFERENCE_BYTES
        });
        fitting.map(|utterance| reference(utterance, after)).collect()
    };
    let mut references: Vec<_> = outcome.sets().into_iter().flat_map(first).collect();
    references.sort_unstable_by_key(|reference| reference.sequence);
    references.dedup_by_key(|reference| reference.sequence);
    references
}

fn reference(utterance: &Utterance, after: &Conversation) -> Reference {
    Reference {
        sequence: utterance.sequence,
        id: utterance.id.clone(),
        role: utterance.role,
        turn: utterance.turn,
        tokens: utterance.tokens,
        position: after.window.position(utterance.sequence),
        late: utterance.late().is_some(),
    }
}
