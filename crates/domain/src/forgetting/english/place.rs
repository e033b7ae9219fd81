//! Places: "before turn 5", "in turns 2 to 4", "so far".

use crate::forgetting::{Criterion, Result, words};

use super::{
    cursor::Cursor,
    reference::{Reference, pair, reference},
    selection::Selection,
};

const NO_SUCH_PLACE: &str = "not a single place, or nothing is on that side of it";
const WHICH_END: &str =
    "say before, through, after, or from … on: it is not clear whether that one is meant too";
const FROM_OR_IN: &str = "say from … on, or in: it is not clear whether later ones are meant too";

/// Consumes modifiers that name places, and no others.
pub(super) fn places(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<()> {
    while scope(cursor) || place(cursor, selection, false)? {}
    Ok(())
}

/// Consumes a place that is the whole conversation, and so selects nothing: "from the conversation", "so
/// far".
pub(super) fn scope(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.at();
    if cursor.phrase("so far") || cursor.phrase("from the record") {
        return true;
    }
    if cursor.any(&["from", "in", "of", "within"]) {
        cursor.any(&["the", "this", "our", "your"]);
        cursor.any(&["whole", "entire"]);
        if cursor.phrases(&words::HISTORY) {
            return true;
        }
    }
    cursor.back(start);
    false
}

/// Consumes "before turn 5", "in turns 2 to 4", "after message 3" and the like; after "that", a form with a
/// `verb`. "And" joins only one side of a place to another.
pub(super) fn place(cursor: &mut Cursor<'_>, selection: &mut Selection, verb: bool) -> Result<bool> {
    let start = cursor.at();
    let criterion = match () {
        () if verb => sided_by_verb(cursor)?,
        () if cursor.word("between") => pair(cursor)?.map(Reference::within),
        () if cursor.any(&["from", "starting", "beginning"]) => onwards(cursor, start)?,
        () if cursor.phrases(&["up to and including", "through"]) => {
            sided(cursor, start, Reference::through)?
        }
        () if cursor.phrases(&["until", "till", "up to"]) => {
            unclear(cursor, start, [Reference::before, Reference::through])?
        }
        () if cursor.word("since") => unclear(cursor, start, [Reference::onwards, Reference::after])?,
        () if cursor.any(&["in", "of", "during", "within", "at", "with"]) => {
            reference(cursor)?.map(Reference::within)
        }
        () => before_or_after(cursor)?,
    };
    match criterion {
        Some(criterion) => selection.add(criterion),
        None => {
            cursor.back(start);
            return Ok(false);
        }
    }
    if cursor.peek_word() == "and" && matches!(cursor.word_at(cursor.at() + 1), "before" | "after") {
        cursor.advance();
        return match place(cursor, selection, false)? {
            true => Ok(true),
            false => Err(cursor.not_understood()),
        };
    }
    Ok(true)
}

/// Consumes "before turn 5" or "after turn 5".
fn before_or_after(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>> {
    let start = cursor.at();
    if cursor.phrases(&["before", "prior to", "preceding", "earlier than", "older than", "ahead of"]) {
        return sided(cursor, start, Reference::before);
    }
    if cursor.phrases(&["after", "following", "later than", "newer than", "subsequent to"]) {
        return sided(cursor, start, Reference::after);
    }
    Ok(None)
}

/// Consumes "precedes turn 5" or "follows turn 5".
fn sided_by_verb(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>> {
    let start = cursor.at();
    if cursor.any(&["precede", "precedes", "preceded"]) {
        return sided(cursor, start, Reference::before);
    }
    if cursor.any(&["follow", "follows", "followed"]) {
        return sided(cursor, start, Reference::after);
    }
    Ok(None)
}

/// Refuses a reference for which either of two `sides` might be meant.
fn unclear(
    cursor: &mut Cursor<'_>,
    start: usize,
    sides: [fn(Reference) -> Option<Criterion>; 2],
) -> Result<Option<Criterion>> {
    let Some(place) = reference(cursor)? else { return Ok(None) };
    let meant = sides.into_iter().filter_map(|side| side(place.clone()));
    Err(cursor.refused(start, WHICH_END).suggesting(meant.map(|side| side.to_string())))
}

/// Consumes a reference and selects one `side` of it.
fn sided(
    cursor: &mut Cursor<'_>,
    start: usize,
    side: fn(Reference) -> Option<Criterion>,
) -> Result<Option<Criterion>> {
    let Some(place) = reference(cursor)? else { return Ok(None) };
    side(place).ok_or_else(|| cursor.refused(start, NO_SUCH_PLACE)).map(Some)
}

/// Consumes what follows "from": "turn 4 on", "turn 2 to turn 4", "the last two turns".
fn onwards(cursor: &mut Cursor<'_>, start: usize) -> Result<Option<Criterion>> {
    let starting = cursor.word_at(start) != "from";
    if starting {
        cursor.any(&["at", "from", "with", "in"]);
    }
    let Some(place) = reference(cursor)? else { return Ok(None) };
    let open = cursor.any(&["on", "onward", "onwards", "forward", "forwards"]) || starting;
    match (open, place.single()) {
        (true, _) => place.onwards().ok_or_else(|| cursor.refused(start, NO_SUCH_PLACE)).map(Some),
        (false, Some(_)) => Err(cursor.refused(start, FROM_OR_IN)),
        (false, None) => Ok(Some(place.within())),
    }
}
