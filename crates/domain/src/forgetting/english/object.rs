//! The objects to forget: "everything", "what I said", a noun phrase, a topic.

use crate::{
    forgetting::{Criterion, Result, Take, words},
    phrases::phrases,
};

use super::{
    cursor::{Cursor, Kind},
    modifier::{authored, just_said, modifiers, spoken},
    noun_phrase::{Quantity, noun_phrase},
    place::scope,
    reference::underscored,
    selection::{NARROWER, Selection},
    time::time_alone,
    topic::{self, Joint},
};

/// The reason "forget about everything" is refused.
const IDIOM: &str = "say forget everything for all of it, or name what to forget";
const BOTH: &str = "is the last part meant for both? send an instruction for each";

/// Parts of a conversation, known by what they are about or who said them.
const PARTS: [&str; 12] =
    phrases("parts|part|bits|bit|stuff|section|sections|portion|details|information|info|discussion");
/// Words for utterances that mention something.
const MENTIONS: [&str; 8] =
    phrases("mentions of|mention of|references to|reference to|traces of|trace of|records of|record of");

/// Consumes objects joined by "and", up to the end.
///
/// # Errors
/// Something that is not an object, or is ambiguous: also a filter of the last object that could be meant for
/// the others too.
pub(super) fn objects(cursor: &mut Cursor<'_>) -> Result<Vec<Selection>> {
    let start = cursor.at();
    let mut all = vec![object(cursor)?];
    while !cursor.done() {
        let at = cursor.at();
        let joined =
            cursor.mark(',') | cursor.phrases(&["and also", "and", "as well as", "along with", "plus"]);
        match if joined { object(cursor) } else { Err(cursor.not_understood()) } {
            Ok(next) => all.push(next),
            Err(_) => {
                cursor.back(at);
                return Err(cursor.not_understood());
            }
        }
    }
    match all.iter().skip(1).any(|one| one.shares_filters_with(&all[0])) {
        true => Err(cursor.refused(start, BOTH)),
        false => Ok(all),
    }
}

/// Consumes an object.
fn object(cursor: &mut Cursor<'_>) -> Result<Selection> {
    if cursor.word("about") { after_about(cursor) } else { quantified(cursor) }
}

/// Consumes what follows "forget about": an object, or otherwise a topic.
fn after_about(cursor: &mut Cursor<'_>) -> Result<Selection> {
    let start = cursor.at();
    if let Ok(selection) = quantified(cursor)
        && (cursor.done() || cursor.peek_word() == "and")
        && !selection.means_one()
    {
        return match selection.is_all() {
            true => Err(cursor.refused(start, IDIOM)),
            false => Ok(selection),
        };
    }
    cursor.back(start);
    let mut selection = Selection::default();
    let selects = |word: &str| words::noun(word).is_some() || words::end(word).is_some();
    if (start..cursor.end()).any(|at| selects(cursor.word_at(at))) {
        return Err(cursor.not_understood());
    }
    topic::read(cursor, &mut selection, Joint::Either)?;
    Ok(selection)
}

/// Consumes an object that begins with its quantity.
fn quantified(cursor: &mut Cursor<'_>) -> Result<Selection> {
    let start = cursor.at();
    if let Some(mention) = mention(cursor)? {
        return Ok(mention);
    }
    match () {
        () if cursor.word("everything") => everything(cursor, start, true),
        () if cursor.any(&["anything", "whatever"]) => everything(cursor, start, false),
        () if cursor.word("what") => what(cursor, start),
        () if cursor.word("all") => all(cursor, start),
        () if cursor.phrases(&["every single", "every", "each"]) => required(cursor, Quantity::Each),
        () if cursor.word("any") => required(cursor, Quantity::Any),
        () if begins_quoted(cursor) => {
            let mut selection = Selection::default();
            topic::read(cursor, &mut selection, Joint::Either)?;
            Ok(selection)
        }
        () => plain(cursor),
    }
}

/// Consumes "every mention of Marco", "the part about my divorce", "all the stuff I said".
fn mention(cursor: &mut Cursor<'_>) -> Result<Option<Selection>> {
    let start = cursor.at();
    let universal = cursor.any(&["all", "any", "every", "each"]);
    cursor.word("of");
    let definite = cursor.any(&["the", "this", "that", "our"]);
    let mut selection = Selection::default();
    if (universal || definite) && cursor.phrases(&MENTIONS) {
        topic::read(cursor, &mut selection, Joint::Unclear)?;
        return Ok(Some(selection));
    }
    if (universal || definite) && cursor.any(&PARTS) {
        cursor.phrases(&[
            "of the conversation",
            "of our conversation",
            "of this conversation",
            "of the chat",
        ]);
        modifiers(cursor, &mut selection)?;
        if !selection.is_bare() {
            return Ok(Some(selection));
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Whether the next token is a quoted text that is not somebody's name.
pub(super) fn begins_quoted(cursor: &Cursor<'_>) -> bool {
    let quoted = cursor.peek().is_some_and(|token| token.kind == Kind::Quoted);
    quoted && !matches!(cursor.word_at(cursor.at() + 1), "'s" | "'")
}

/// Consumes an object without a quantity: a turn, a time or a noun phrase.
fn plain(cursor: &mut Cursor<'_>) -> Result<Selection> {
    if let Some(turn) = underscored(cursor)? {
        return Ok(Selection::of(turn.within()));
    }
    if let Some(stretch) = time_alone(cursor)? {
        let mut selection = Selection::default();
        selection.add_time(stretch);
        while scope(cursor) {}
        return Ok(selection);
    }
    let start = cursor.at();
    match noun_phrase(cursor, Quantity::Plain)? {
        Some(selection) => Ok(selection),
        None => topic::bare(cursor)?.ok_or_else(|| {
            cursor.back(start);
            cursor.not_understood()
        }),
    }
}

/// Consumes what follows "everything"; without a modifier, that means all if `bare_is_all`.
fn everything(cursor: &mut Cursor<'_>, start: usize, bare_is_all: bool) -> Result<Selection> {
    let mut selection = Selection::default();
    modifiers(cursor, &mut selection)?;
    match (selection.is_bare(), bare_is_all && selection.is_everything()) {
        (false, _) => Ok(selection),
        (true, true) if cursor.done() => Ok(Selection::of(Criterion::All)),
        (true, _) if !cursor.done() => Err(cursor.not_understood()),
        (true, _) => Err(cursor.refused(start, NARROWER)),
    }
}

/// Consumes what follows "what": "I said about Paris", "was said before turn 5".
fn what(cursor: &mut Cursor<'_>, start: usize) -> Result<Selection> {
    if let Some(who) = just_said(cursor) {
        let mut selection = Selection::default();
        selection.add_all(who);
        selection.take(Take::Newest(1));
        return Ok(selection);
    }
    let mut selection = Selection::default();
    let passive =
        cursor.phrases(&["was", "has been", "had been", "'s been"]) && spoken(cursor, &mut selection)?;
    if !passive && !authored(cursor, &mut selection)? {
        cursor.back(start);
        return Err(cursor.not_understood());
    }
    modifiers(cursor, &mut selection)?;
    if selection.is_bare() { Err(cursor.refused(start, NARROWER)) } else { Ok(selection) }
}

/// Consumes what follows "all".
fn all(cursor: &mut Cursor<'_>, start: usize) -> Result<Selection> {
    if cursor.done() {
        return Ok(Selection::of(Criterion::All));
    }
    if cursor.word("of") {
        let start = cursor.at();
        return if cursor.word("what") { what(cursor, start) } else { required(cursor, Quantity::All) };
    }
    match noun_phrase(cursor, Quantity::All)? {
        Some(selection) => Ok(selection),
        None => everything(cursor, start, false),
    }
}

/// Consumes a noun phrase, which is required here.
fn required(cursor: &mut Cursor<'_>, quantity: Quantity) -> Result<Selection> {
    noun_phrase(cursor, quantity)?.ok_or_else(|| cursor.not_understood())
}
