//! What follows a noun and narrows it: who said it, where it stands, what it is about.

use crate::domain::{
    Role,
    forgetting::{Criterion, InstructionError, doubts, words},
};

use super::{
    cursor::{Cursor, Kind},
    number,
    reference::{Reference, pair, reference},
    selection::Selection,
    topic,
};

const NAME_FORM: &str = "who is this? write a name with a capital letter, in quotes, or as name:NAME";
const NO_SUCH_PLACE: &str = "not a single place with something on that side of it";
const WHICH_END: &str =
    "say before, through, after, or from … on: it is not clear whether that one is meant too";
const FROM_OR_IN: &str = "say from … on, or in: it is not clear whether later ones are meant too";

/// Between "that" and a modifier.
const COPULAS: [&str; 13] = [
    "is",
    "are",
    "was",
    "were",
    "came",
    "comes",
    "come",
    "happened",
    "occurred",
    "has been",
    "have been",
    "had been",
    "'s been",
];

/// Consumes all modifiers that stand here.
///
/// # Errors
/// A modifier that is understood and cannot be accepted. What is none is left where it stands.
pub(super) fn modifiers(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<(), InstructionError> {
    while modifier(cursor, selection)? {}
    Ok(())
}

/// Consumes modifiers that name places, and no others.
pub(super) fn places(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<(), InstructionError> {
    while scope(cursor) || place(cursor, selection, false)? {}
    Ok(())
}

/// Consumes one modifier, after a "that" if need be.
fn modifier(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool, InstructionError> {
    if scope(cursor) {
        return Ok(true);
    }
    let start = cursor.at();
    let relative = cursor.any(&["that", "which"]);
    let joined = relative && cursor.phrases(&COPULAS);
    let direct = !relative || joined;
    let found = place(cursor, selection, relative && !joined)?
        || (direct && topic(cursor, selection, &words::TOPIC)?)
        || (relative && !joined && topic(cursor, selection, &words::TOPIC_VERBS)?)
        || (direct && spoken(cursor, selection))
        || (direct && source(cursor, selection)?)
        || (!joined && authored(cursor, selection)?)
        || (!relative && identified(cursor, selection))
        || (!relative && clause(cursor, selection)?);
    if !found {
        cursor.back(start);
    }
    Ok(found)
}

/// Consumes "said by the user", "said".
pub(super) fn spoken(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    if !cursor.any(&words::SPOKEN) {
        return false;
    }
    let by = cursor.word("by");
    let who = if by { subject(cursor) } else { None };
    if by && who.is_none() {
        cursor.back(start);
        return false;
    }
    selection.narrow();
    selection.add_all(who);
    true
}

/// Consumes "I said", "the user has said", "Bob wrote".
pub(super) fn authored(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool, InstructionError> {
    let start = cursor.at();
    let lower_name = unknown_word(cursor) && words::SAID.contains(&cursor.word_at(start + 1));
    let Some(who) = subject(cursor) else {
        return if lower_name { Err(cursor.refused(start, NAME_FORM)) } else { Ok(false) };
    };
    cursor.any(&["has", "have", "had"]);
    cursor.word("ever");
    let assistant = who == Criterion::Speaker(Role::Assistant);
    let said = cursor.phrases(&words::SAID) || assistant && cursor.phrases(&words::ANSWERED);
    if said {
        cursor.phrases(&["to you", "to me", "to us", "to the assistant", "to the user"]);
        selection.add(who);
    } else {
        cursor.back(start);
    }
    Ok(said)
}

/// Consumes a place in the whole conversation, which selects nothing: "from the
/// conversation", "so far".
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

/// Consumes "before turn 5", "in turns 2 to 4", "after message 3" and the like. After "that",
/// it is told by a `verb`. "And" joins one side of a place to another, and nothing else.
fn place(cursor: &mut Cursor<'_>, selection: &mut Selection, verb: bool) -> Result<bool, InstructionError> {
    let start = cursor.at();
    let criterion = match () {
        () if verb => sided_by_verb(cursor)?,
        () if cursor.word("between") => pair(cursor)?.map(Reference::within),
        () if cursor.any(&["from", "starting", "beginning"]) => onwards(cursor, start)?,
        () if cursor.phrases(&["up to and including", "through"]) => {
            sided(cursor, start, Reference::through)?
        }
        () if cursor.phrases(&["until", "till", "up to", "since"]) => match reference(cursor)? {
            Some(_) => return Err(cursor.refused(start, WHICH_END)),
            None => None,
        },
        () if cursor.any(&["in", "of", "during", "within", "at", "with"]) => {
            reference(cursor)?.map(Reference::within)
        }
        () => beside(cursor)?,
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
fn beside(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>, InstructionError> {
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
fn sided_by_verb(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>, InstructionError> {
    let start = cursor.at();
    if cursor.any(&["precede", "precedes", "preceded"]) {
        return sided(cursor, start, Reference::before);
    }
    if cursor.any(&["follow", "follows", "followed"]) {
        return sided(cursor, start, Reference::after);
    }
    Ok(None)
}

/// Consumes a reference, and takes one `side` of it.
fn sided(
    cursor: &mut Cursor<'_>,
    start: usize,
    side: fn(Reference) -> Option<Criterion>,
) -> Result<Option<Criterion>, InstructionError> {
    let Some(place) = reference(cursor)? else { return Ok(None) };
    side(place).ok_or_else(|| cursor.refused(start, NO_SUCH_PLACE)).map(Some)
}

/// Consumes what follows "from": "turn 4 on", "turn 2 to turn 4", "the last two turns".
fn onwards(cursor: &mut Cursor<'_>, start: usize) -> Result<Option<Criterion>, InstructionError> {
    let starting = cursor.word_at(start) != "from";
    if starting {
        cursor.any(&["at", "from", "with", "in"]);
    }
    let Some(place) = reference(cursor)? else { return Ok(None) };
    let open = cursor.any(&["on", "onward", "onwards", "forward", "forwards"]) || starting;
    match (open, place.clone().single()) {
        (true, _) => place.onwards().ok_or_else(|| cursor.refused(start, NO_SUCH_PLACE)).map(Some),
        (false, Some(_)) => Err(cursor.refused(start, FROM_OR_IN)),
        (false, None) => Ok(Some(place.within())),
    }
}

/// Consumes one of `markers` and the topic after it.
fn topic(
    cursor: &mut Cursor<'_>,
    selection: &mut Selection,
    markers: &[&str],
) -> Result<bool, InstructionError> {
    let found = cursor.phrases(markers);
    if found {
        topic::read(cursor, selection)?;
    }
    Ok(found)
}

/// Consumes "from me", "by the assistant", "of Alice".
fn source(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool, InstructionError> {
    let start = cursor.at();
    if !cursor.any(&["from", "by", "of"]) {
        return Ok(false);
    }
    let lower_name = unknown_word(cursor) && cursor.at() + 1 == cursor.end();
    match subject(cursor) {
        Some(who) => selection.add(who),
        None if lower_name => return Err(cursor.refused(start, NAME_FORM)),
        None => {
            cursor.back(start);
            return Ok(false);
        }
    }
    Ok(true)
}

/// Consumes "with id x7", "named Alice".
fn identified(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    let id = cursor.phrases(&["with id", "with the id", "whose id is"]);
    let name = !id && cursor.phrases(&["with name", "with the name", "whose name is"]);
    let value = (id || name).then(|| cursor.peek()).flatten().filter(|token| token.kind != Kind::Mark);
    let Some(value) = value.map(|token| token.text.to_owned()) else {
        cursor.back(start);
        return false;
    };
    cursor.advance();
    selection.add(if id { Criterion::Id(value) } else { Criterion::Name(value) });
    true
}

/// Consumes "where I mentioned Paris", "in which the user talks about Paris".
fn clause(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool, InstructionError> {
    let start = cursor.at();
    if cursor.phrases(&["where", "in which"])
        && let Some(who) = subject(cursor)
        && topic(cursor, selection, &words::TOPIC_VERBS)?
    {
        selection.add(who);
        return Ok(true);
    }
    cursor.back(start);
    Ok(false)
}

/// Consumes who speaks: "I", "you", "the assistant", "Alice".
fn subject(cursor: &mut Cursor<'_>) -> Option<Criterion> {
    let start = cursor.at();
    let word = cursor.peek_word();
    let contracted = word.strip_suffix("'ve").unwrap_or(word);
    if let Some(role) = words::pronoun(contracted) {
        cursor.advance();
        return Some(Criterion::Speaker(role));
    }
    cursor.word("the");
    if let Some(role) = words::role(cursor.peek_word()) {
        cursor.advance();
        return Some(Criterion::Speaker(role));
    }
    cursor.back(start);
    cursor.name(doubts::is_no_name).map(Criterion::Name)
}

/// Whether a word stands here that could be a name, were it capitalised.
fn unknown_word(cursor: &Cursor<'_>) -> bool {
    let word = cursor.peek_word();
    !word.is_empty() && !doubts::is_no_name(word) && !number::is_numeric(word)
}
