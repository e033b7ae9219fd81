//! The conversations that a commit locks, and the utterances that pass between them.

use parking_lot::MutexGuard;

use super::{archive::Archive, slot::Slot};
use crate::{CommitError, Conflict, Write};
use utterd_domain::{ConversationKey, Ranges};

/// A conversation that a commit locks: it is written, or may take over utterances that others give up.
pub(super) struct Place<'c> {
    pub(super) key: &'c ConversationKey,
    pub(super) write: Option<&'c Write>,
}

impl<'c> Place<'c> {
    pub(super) fn of(write: &'c Write) -> Self {
        Self { key: write.key(), write: Some(write) }
    }
}

/// Utterances that one conversation gives up and another one still has. The other one is charged for them
/// from then on.
pub(super) struct Bequest {
    /// The place of the conversation that takes them over.
    pub(super) heir: usize,
    pub(super) sequences: Ranges,
    pub(super) bytes: i64,
}

/// Whether the write may give up utterances that others share.
pub(super) fn gives_up(write: &Write) -> bool {
    write.before().is_some_and(|state| !state.head.trunks.is_empty())
}

/// Returns the utterances that pass between conversations with a commit. If several conversations could take
/// over an utterance, the first by key does.
pub(super) fn bequests(places: &[Place<'_>], slots: &[MutexGuard<'_, Slot>]) -> Vec<Bequest> {
    let mut bequests = Vec::new();
    for (giver, place) in places.iter().enumerate() {
        let Some(write) = place.write.filter(|write| gives_up(write)) else { continue };
        let mut released = slots[giver].released(write);
        for (heir, other) in places.iter().enumerate().filter(|(heir, _)| *heir != giver) {
            let (sequences, bytes) = slots[heir].inherited(&released, &slots[giver], other.write);
            if !sequences.is_empty() {
                released.subtract(&sequences);
                bequests.push(Bequest { heir, sequences, bytes });
            }
        }
    }
    bequests
}

/// Returns the places of created forks, descending, each with its part of its parent's archive. The parent
/// must be written in the same commit.
pub(super) fn inherited_archives(
    places: &[Place<'_>],
    slots: &[MutexGuard<'_, Slot>],
) -> Result<Vec<(usize, Archive)>, CommitError> {
    let mut archives = Vec::new();
    for (fork, place) in places.iter().enumerate().rev() {
        let Some(Write::Change { changes, after, .. }) = place.write else { continue };
        let Some(key) = changes.iter().find_map(|change| change.inherits.as_ref()) else { continue };
        let parent = places.iter().position(|place| place.key == key && place.write.is_some());
        let parent = &slots[parent.ok_or_else(|| Conflict::State(key.clone()))?];
        archives.push((fork, parent.archive.part(&after.head.archived)));
    }
    Ok(archives)
}
