//! Utterances, what stands around them, and what they answer.

use std::{ops::Range, sync::Arc};

use super::block::{Document, IndexBlock};
use crate::Role;

/// An utterance: its block, and its index in the block.
pub(super) type Place = (u32, u32);

/// What answers no question has at least so many words, without stop words.
const ANSWER_WORDS: u16 = 3;
/// The minimum gap between sessions, in minutes.
const SESSION_GAP: u32 = 180;

pub(super) fn document(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Document {
    blocks[block as usize].documents[document as usize]
}

/// Whether `next` answers a question at `place` by somebody else.
pub(super) fn is_answer(blocks: &[Arc<IndexBlock>], place: Place, next: Place) -> bool {
    document(blocks, place).is_question() && is_others(blocks, place, next)
}

/// Whether `next` answers what is said at `place`, given that somebody else says it, with words of its own: a question,
/// or anything that a user tells an assistant. Few words behind what is told only acknowledge it.
pub(super) fn is_answered(blocks: &[Arc<IndexBlock>], place: Place, next: Place) -> bool {
    let (asking, answering) = (document(blocks, place), document(blocks, next));
    let is_told = (asking.role(), answering.role()) == (Role::User, Role::Assistant);
    let least = if asking.is_question() { 1 } else { ANSWER_WORDS };
    answering.length >= least && (asking.is_question() || is_told)
}

/// Whether somebody else says `next`.
pub(super) fn is_others(blocks: &[Arc<IndexBlock>], place: Place, next: Place) -> bool {
    let (asking, answering) = (document(blocks, place), document(blocks, next));
    let name = |place: Place, of: &Document| blocks[place.0 as usize].name_of(of);
    asking.role() != answering.role() || name(place, &asking) != name(next, &answering)
}

pub(super) fn before(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Option<Place> {
    if document > 0 {
        return Some((block, document - 1));
    }
    let before = block.checked_sub(1)?;
    Some((before, (blocks[before as usize].documents.len() as u32).checked_sub(1)?))
}

pub(super) fn next(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Option<Place> {
    if (document as usize) + 1 < blocks[block as usize].documents.len() {
        return Some((block, document + 1));
    }
    blocks.get(block as usize + 1).filter(|next| !next.documents.is_empty()).map(|_| (block + 1, 0))
}

pub(super) fn all(blocks: &[Arc<IndexBlock>]) -> Vec<Place> {
    let of = |(number, block): (u32, &Arc<IndexBlock>)| {
        (0..block.documents.len() as u32).map(move |document| (number, document))
    };
    (0..).zip(blocks).flat_map(of).collect()
}

/// The minutes of the session before the present one; the last session with utterances if there has been a
/// long pause.
pub(super) fn last_session(blocks: &[Arc<IndexBlock>], now: u32) -> Range<u32> {
    let mut minutes =
        blocks.iter().rev().flat_map(|block| block.documents.iter().rev()).map(|document| document.minute);
    let (mut start, mut end) = (now, now);
    let mut is_present = true;
    for minute in minutes.by_ref() {
        if start.saturating_sub(minute) >= SESSION_GAP {
            if !is_present {
                break;
            }
            (is_present, end) = (false, minute);
        }
        start = start.min(minute);
    }
    if is_present { 0..0 } else { start..end.saturating_add(1) }
}
