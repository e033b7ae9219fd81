//! Finding stored utterances by their ids or sequences, in the window or the archive.

use std::{collections::BTreeSet, sync::Arc};

use crate::{Conversation, Loaded, Need, Ranges, Refusal, Sequence, Transition, Undecided, Utterance};

/// Returns the utterances that `ids` name, in the order given: those of the window immediately, those of the
/// archive once they are loaded. Refuses an id that names no utterance.
pub fn by_ids(
    conversation: &Conversation,
    ids: &[Box<str>],
    loaded: &Loaded,
) -> Result<Vec<Arc<Utterance>>, Undecided> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(sequence) = sequence_of(conversation, id, ids, loaded)? else {
            return Err(unknown(id).into());
        };
        match one(conversation, sequence, loaded)? {
            Some(utterance) if utterance.id_text() == **id => found.push(utterance),
            _ => return Err(unknown(id).into()),
        }
    }
    Ok(found)
}

/// Returns the stored utterances among `wanted`, ascending.
pub fn stored(
    conversation: &Conversation,
    wanted: &Ranges,
    loaded: &Loaded,
) -> Result<Vec<Arc<Utterance>>, Need> {
    let mut stored = loaded.archive(&wanted.intersection(&conversation.head.archived))?;
    stored.extend(live(conversation, wanted).cloned());
    stored.sort_by_key(|utterance| utterance.sequence);
    Ok(stored)
}

/// Returns the units of the stored utterances among `named`, whole and ascending.
pub fn units_of(
    conversation: &Conversation,
    named: &Ranges,
    loaded: &Loaded,
) -> Result<Vec<Arc<Utterance>>, Need> {
    let archive = match named.meets(&conversation.head.archived) {
        true => loaded.archive(&conversation.head.archived)?,
        false => Vec::new(),
    };
    let archived = archive.iter().filter(|utterance| named.contains(utterance.sequence));
    let away: BTreeSet<_> = archived.map(|utterance| utterance.unit).collect();
    let units: BTreeSet<_> = live(conversation, named).map(|utterance| utterance.unit).collect();
    let mut members: Vec<_> = archive.iter().filter(|other| away.contains(&other.unit)).cloned().collect();
    members.extend(units.into_iter().flat_map(|unit| conversation.window.unit(unit)).cloned());
    members.sort_by_key(|utterance| utterance.sequence);
    Ok(members)
}

/// Returns the utterances of the window among `wanted`.
pub fn live<'a>(conversation: &'a Conversation, wanted: &Ranges) -> impl Iterator<Item = &'a Arc<Utterance>> {
    wanted.iter().flat_map(|range| conversation.window.between(*range.start(), *range.end()))
}

/// Returns the first stored utterance after `at`.
pub fn following(
    conversation: &Conversation,
    at: Sequence,
    loaded: &Loaded,
) -> Result<Option<Arc<Utterance>>, Need> {
    let place = conversation.window.place(at.next()).unwrap_or_else(|place| place);
    let live = conversation.window.at(place);
    let mut behind = (*conversation.head.archived).clone();
    behind.remove(Sequence::FIRST, at);
    match behind.first() {
        Some(archived) if live.is_none_or(|live| archived < live.sequence) => {
            Ok(loaded.archive(&Ranges::of(archived, archived))?.pop())
        }
        _ => Ok(live.cloned()),
    }
}

/// Returns the utterances of the unit of `utterance`, ascending.
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

fn one(
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

impl Transition {
    /// Returns the archived utterances among `wanted` as the transition has them so far, ascending: including
    /// those it evicted, and rewritten as it rewrote them.
    pub(crate) fn archived(&self, wanted: &Ranges, loaded: &Loaded) -> Result<Vec<Arc<Utterance>>, Need> {
        let mut wanted = wanted.intersection(&self.after.head.archived);
        let evicted = self.change.evicted.iter().filter(|evicted| wanted.contains(evicted.sequence));
        let mut archived: Vec<_> = evicted.cloned().collect();
        archived.iter().for_each(|evicted| wanted.remove(evicted.sequence, evicted.sequence));
        archived.extend(loaded.archive(&wanted)?);
        archived.sort_by_key(|utterance| utterance.sequence);
        for rewritten in &self.change.rewritten {
            let place = archived.binary_search_by_key(&rewritten.sequence, |utterance| utterance.sequence);
            if let Ok(place) = place {
                archived[place] = rewritten.clone();
            }
        }
        Ok(archived)
    }

    /// Returns the utterance stored with `sequence`, as the transition has it so far.
    pub(crate) fn stored(&self, sequence: Sequence, loaded: &Loaded) -> Result<Option<Arc<Utterance>>, Need> {
        match self.after.window.get(sequence) {
            Some(live) => Ok(Some(live.clone())),
            None => Ok(self.archived(&Ranges::of(sequence, sequence), loaded)?.pop()),
        }
    }

    /// Returns the utterances of the unit of `utterance` as the transition has them so far, ascending.
    pub(crate) fn unit_of(
        &self,
        utterance: &Utterance,
        loaded: &Loaded,
    ) -> Result<Vec<Arc<Utterance>>, Need> {
        if self.after.window.get(utterance.sequence).is_some() {
            return Ok(self.after.window.unit(utterance.unit).cloned().collect());
        }
        let archived = self.archived(&self.after.head.archived, loaded)?;
        Ok(archived.into_iter().filter(|other| other.unit == utterance.unit).collect())
    }
}
