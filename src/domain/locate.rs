//! Finding stored utterances by their ids or sequences, in the window or the archive.

use std::sync::Arc;

use crate::domain::{Conversation, Loaded, Need, Ranges, Refusal, Sequence, Utterance};

/// The utterances that `ids` name, in the order given: the window's at once, the archive's once
/// they are loaded. The inner error is the id that names none.
pub fn by_ids<'a>(
    conversation: &Conversation,
    ids: &'a [Box<str>],
    loaded: &Loaded,
) -> Result<Result<Vec<Arc<Utterance>>, &'a str>, Need> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(sequence) = sequence_of(conversation, id, ids, loaded)? else { return Ok(Err(id)) };
        match stored(conversation, sequence, loaded)? {
            Some(utterance) if utterance.id_text() == **id => found.push(utterance),
            _ => return Ok(Err(id)),
        }
    }
    Ok(Ok(found))
}

/// The utterances of the unit of `utterance`, ascending.
pub fn unit_of(
    conversation: &Conversation,
    utterance: &Utterance,
    loaded: &Loaded,
) -> Result<Vec<Arc<Utterance>>, Need> {
    match conversation.window.get(utterance.sequence) {
        Some(_) => Ok(conversation.window.unit(utterance.unit).cloned().collect()),
        None => {
            let archived = loaded.archive(&conversation.head.archived)?;
            Ok(archived.into_iter().filter(|other| other.unit == utterance.unit).collect())
        }
    }
}

/// The refusal of an id that names no stored utterance.
pub fn unknown(id: &str) -> Refusal {
    Refusal::no_utterance(id)
}

fn sequence_of(
    conversation: &Conversation,
    id: &str,
    ids: &[Box<str>],
    loaded: &Loaded,
) -> Result<Option<Sequence>, Need> {
    let known = conversation.sequence_of(id);
    if known.is_some() || conversation.head.archived.is_empty() {
        return Ok(known);
    }
    Ok(loaded.ids(|| ids.to_vec())?.get(id).copied())
}

fn stored(
    conversation: &Conversation,
    sequence: Sequence,
    loaded: &Loaded,
) -> Result<Option<Arc<Utterance>>, Need> {
    if let Some(utterance) = conversation.window.get(sequence) {
        return Ok(Some(utterance.clone()));
    }
    let archived: &Ranges = &conversation.head.archived;
    if !archived.contains(sequence) {
        return Ok(None);
    }
    let utterances = loaded.archive(archived)?;
    Ok(utterances.into_iter().find(|utterance| utterance.sequence == sequence))
}
