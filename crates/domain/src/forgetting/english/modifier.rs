//! What follows a noun and narrows it: who said it, where it is, what it is about.

use crate::{
    Role,
    forgetting::{Criterion, InstructionError, Result, doubts, words},
    phrases::phrases,
};

use super::{
    cursor::{Cursor, Kind},
    number,
    place::{place, scope},
    selection::Selection,
    subject::subjects,
    time::timed,
    topic::{self, Joint},
};

const NAME_FORM: &str = "who is this? write a name with a capital letter, in quotes, or as name:NAME";

/// Verbs between "that" and a modifier.
const COPULAS: [&str; 13] =
    phrases("is|are|was|were|came|comes|come|happened|occurred|has been|have been|had been|'s been");

/// Consumes all modifiers at the position.
///
/// # Errors
/// A modifier that is understood but not acceptable. Anything else is left unread.
pub(super) fn modifiers(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<()> {
    while modifier(cursor, selection)? {}
    Ok(())
}

/// Consumes one modifier, optionally after a "that".
fn modifier(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    if scope(cursor) {
        return Ok(true);
    }
    let start = cursor.at();
    let relative = cursor.any(&["that", "which"]);
    let joined = relative && cursor.phrases(&COPULAS);
    let direct = !relative || joined;
    let found = place(cursor, selection, relative && !joined)?
        || (direct && timed(cursor, selection)?)
        || (direct && topic(cursor, selection, &words::TOPIC, Joint::Either)?)
        || (direct && topic(cursor, selection, &words::CONTAINING, Joint::Both)?)
        || (relative && !joined && topic(cursor, selection, &words::TOPIC_VERBS, Joint::Either)?)
        || (relative && !joined && topic(cursor, selection, &words::CONTAINING_VERBS, Joint::Both)?)
        || (direct && with_in_it(cursor, selection)?)
        || (direct && spoken(cursor, selection)?)
        || (direct && source(cursor, selection)?)
        || (!joined && authored(cursor, selection)?)
        || (!relative && identified(cursor, selection))
        || (!relative && clause(cursor, selection)?);
    cursor.back_unless(found, start);
    Ok(found)
}

/// Consumes "said by the user", "said".
pub(super) fn spoken(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let start = cursor.at();
    if !cursor.any(&words::SPOKEN) {
        return Ok(false);
    }
    let by = cursor.word("by");
    let who = if by { subjects(cursor) } else { None };
    if by && who.is_none() {
        cursor.back(start);
        return Ok(false);
    }
    selection.narrow();
    say(cursor, start, selection, who.unwrap_or_default())?;
    Ok(true)
}

/// Adds speakers.
fn say(cursor: &Cursor<'_>, start: usize, selection: &mut Selection, who: Vec<Vec<Criterion>>) -> Result<()> {
    match who.is_empty() {
        true => Ok(()),
        false => selection.add_any_of(who).map_err(|why| cursor.refused(start, why)),
    }
}

/// Consumes "I said", "the user has said", "Bob and Alice wrote", "we discussed", "you know".
pub(super) fn authored(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let start = cursor.at();
    let lower_name = unknown_word(cursor) && words::SAID.contains(&cursor.word_at(start + 1));
    let Some(mut who) = subjects(cursor) else {
        return if lower_name { Err(nameless(cursor, start, start)) } else { Ok(false) };
    };
    cursor.any(&["has", "have", "had", "'ve"]);
    cursor.any(&["ever", "already"]);
    let assistant = who == [[Criterion::Speaker(Role::Assistant)]];
    let knows = assistant && cursor.any(&["know", "remember", "stored", "have"]);
    if knows {
        who = Vec::new();
    }
    let said = knows
        || cursor.phrases(&words::SAID)
        || cursor.phrases(&words::DISCUSSED)
        || assistant && cursor.phrases(&words::ANSWERED);
    if !said {
        cursor.back(start);
        return Ok(false);
    }
    cursor.phrases(&["to you", "to me", "to us", "to the assistant", "to the user", "in here", "here"]);
    selection.narrow();
    say(cursor, start, selection, who)?;
    Ok(true)
}

/// Consumes "I just said", if nothing follows.
pub(super) fn just_said(cursor: &mut Cursor<'_>) -> Option<Vec<Criterion>> {
    let start = cursor.at();
    let who = subjects(cursor).filter(|who| who.len() == 1 && who[0].len() == 1);
    let who = who.filter(|_| cursor.word("just") && cursor.phrases(&words::SAID) && cursor.done());
    cursor.back_unless(who.is_some(), start);
    who.map(|mut who| who.remove(0))
}

/// Refuses the phrase from `start` on, in which the word at `name` might be a name.
fn nameless(cursor: &Cursor<'_>, start: usize, name: usize) -> InstructionError {
    let name = cursor.token(name).map(|token| Criterion::Name(token.text.to_owned()));
    cursor.refused(start, NAME_FORM).suggesting(name.map(|name| name.to_string()))
}

/// Consumes one of `markers` and the topic after it.
fn topic(cursor: &mut Cursor<'_>, selection: &mut Selection, markers: &[&str], joint: Joint) -> Result<bool> {
    let found = cursor.phrases(markers);
    if found {
        topic::read(cursor, selection, joint)?;
    }
    Ok(found)
}

/// Consumes "with Paris in them".
fn with_in_it(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let end = cursor.end();
    let found = cursor.peek_word() == "with"
        && ["in it", "in them"].iter().any(|in_it| cursor.drop_last_phrase(in_it));
    if found && cursor.end() > cursor.at() + 1 {
        cursor.advance();
        topic::read(cursor, selection, Joint::Both)?;
        return Ok(true);
    }
    cursor.limit(end);
    Ok(false)
}

/// Consumes "from me", "by the assistant", "of Alice and Bob".
fn source(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let start = cursor.at();
    if !cursor.any(&["from", "by", "of"]) {
        return Ok(false);
    }
    let lower_name = unknown_word(cursor) && cursor.at() + 1 == cursor.end();
    match subjects(cursor) {
        Some(who) => say(cursor, start, selection, who)?,
        None if lower_name => return Err(nameless(cursor, start, start + 1)),
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

/// Consumes "where I mentioned Paris", "in which we talked about Paris".
fn clause(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let start = cursor.at();
    if cursor.phrases(&["where", "in which", "when"])
        && let Some(who) = subjects(cursor)
        && (topic(cursor, selection, &words::TOPIC_VERBS, Joint::Either)?
            || topic(cursor, selection, &words::CONTAINING_VERBS, Joint::Both)?
            || cursor.phrases(&words::SAID)
                && topic(cursor, selection, &["something about"], Joint::Unclear)?)
    {
        say(cursor, start, selection, who)?;
        return Ok(true);
    }
    cursor.back(start);
    Ok(false)
}

/// Whether the next word could be a name if it were capitalised.
fn unknown_word(cursor: &Cursor<'_>) -> bool {
    let word = cursor.peek_word();
    !word.is_empty() && !doubts::is_no_name(word) && !number::is_numeric(word)
}
