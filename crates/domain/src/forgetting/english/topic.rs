//! The text to look for: everything up to the end of the sentence, except for filters that follow it ("about
//! Paris before turn 5", "the hotel that Alice mentioned").
//!
//! A text that seems to say more than a topic is refused rather than searched for; in quotes, any text is
//! accepted as is. [`super::topics`] separates several topics.

use crate::{
    Timestamp,
    forgetting::{
        Criterion, Instruction, InstructionError, Result, doubts,
        words::{self, Noun},
    },
    phrases::phrases,
    recall::terms,
};

use super::{
    cursor::{Cursor, Kind},
    number::is_numeric,
    place::places,
    selection::Selection,
    subject::subjects,
    time::day_said,
    topics::{self, Topic, begins_another},
    typos,
};

const MISSING: &str = "the text to look for is missing";
const NO_TOPIC: &str = "does not name a topic by itself; write the words to look for, in quotes if necessary";
const EITHER: &str = "either, or both in the same utterance? write about:\"A\",\"B\" or mentioning A and B";
const ANOTHER: &str = "one instruction at a time, or put quotes around the text to look for";
const PLACE: &str = "not understood as a place; fix it, or put quotes around the text to look for";
const TIME: &str = "give the time first, as in: what I said yesterday about …; or put quotes around the text";
const SPEAKER: &str = "say who spoke first, as in: what the user said about …; or put quotes around the text";

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 10] = phrases("mr|mrs|ms|dr|prof|st|vs|etc|jr|sr");

/// Verbs after which a topic is what was said: "the hotel that Alice mentioned".
const MENTIONED: [&str; 8] =
    phrases("said|mentioned|told you about|told me about|told us about|brought up|talked about|discussed");

/// Words with which a place can begin.
const BEGINNING_PLACES: [&str; 23] = phrases(
    "before|prior|preceding|earlier|older|ahead|after|following|later|newer|subsequent|between|from|starting|\
    beginning|up|through|in|of|during|within|at|so",
);
/// Words after which a noun used for places is used as in a reference.
const BEFORE_PLACES: [&str; 17] = phrases(
    "before|after|until|till|since|between|in|during|within|through|recent|previous|next|this|that|these|\
    those",
);

/// What "and" between two texts means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// Two topics, either of which selects.
    Either,
    /// Two texts, both of which an utterance must contain.
    Both,
    /// Either of these.
    Unclear,
}

/// Consumes the text after "about" or the like, and the filters after it: all that is left.
///
/// # Errors
/// A missing text, or an unquoted one that [`check`] refuses.
pub(super) fn read(cursor: &mut Cursor<'_>, selection: &mut Selection, joint: Joint) -> Result<()> {
    cursor.mark(':');
    introduction(cursor);
    text(cursor, selection, joint).map(|_| ())
}

/// Consumes "the word" before a text.
fn introduction(cursor: &mut Cursor<'_>) {
    let start = cursor.at();
    let definite = cursor.any(&["the", "a"]);
    let named = cursor.any(&["word", "words", "phrase", "term", "terms", "text", "topic"]);
    let quoted = cursor.peek().is_some_and(|token| token.kind == Kind::Quoted);
    let followed = !cursor.done() && !matches!(cursor.peek_word(), "and" | "or" | "of" | "in" | "from");
    if !(named && (quoted || definite && followed)) {
        cursor.back(start);
    }
}

/// Consumes "the weather", "my salary and my address" after a verb: a topic that is not introduced; nothing
/// if it might mean something else.
pub(super) fn bare(cursor: &mut Cursor<'_>) -> Result<Option<Selection>> {
    let start = cursor.at();
    if !cursor.commanded
        || !matches!(cursor.peek_word(), "the" | "my" | "your" | "our" | "his" | "her" | "their")
    {
        return Ok(None);
    }
    let mut selection = Selection::default();
    introduction(cursor);
    if cursor.peek().is_some_and(|token| token.kind == Kind::Quoted) {
        text(cursor, &mut selection, Joint::Either)?;
        return Ok(Some(selection));
    }
    cursor.back(start);
    let end = text(cursor, &mut selection, Joint::Either)?;
    let means_more = (start + 1..end).any(|at| {
        let word = cursor.word_at(at);
        doubts::is_no_subject(word) || is_numeric(word) || typos::resembles(word)
    });
    let first = cursor.word_at(start + 1);
    Ok((!means_more && !doubts::says_nothing(first) && end - start <= MAX_BARE_WORDS).then_some(selection))
}

/// The most words of a topic that is not introduced.
const MAX_BARE_WORDS: usize = 8;

/// Consumes the text and the filters after it; returns where the text ends.
fn text(cursor: &mut Cursor<'_>, selection: &mut Selection, joint: Joint) -> Result<usize> {
    let both = cursor.word("both");
    let either = !both && cursor.word("either");
    let start = cursor.at();
    if cursor.done() {
        return Err(InstructionError::part(cursor.slice(start.saturating_sub(1), start), MISSING));
    }
    let end = text_end(cursor, selection, start);
    let with_or = topics::split(cursor, start, end, "or");
    let with_and = topics::split(cursor, start, end, "and");
    let (topics, joined_by_or) = if with_or.len() > 1 { (with_or, true) } else { (with_and, false) };
    for topic in topics.iter().filter(|topic| !topic.is_quoted(cursor)) {
        check(cursor, *topic, selection.is_spoken())?;
    }
    let several = topics.len() > 1;
    let unclear = match joined_by_or {
        true => both,
        false => either || both && (joint != Joint::Both || !several) || several && joint == Joint::Unclear,
    };
    if unclear {
        return Err(InstructionError::part(cursor.slice(start, end), EITHER));
    }
    let mut texts: Vec<String> = topics.iter().map(|topic| topic.text(cursor)).collect();
    if joint == Joint::Both && !joined_by_or {
        texts = vec![texts.join(" ")];
    }
    selection.add(Criterion::About(texts));
    Ok(end)
}

/// The short forms that the rest of a sentence might stand for, if it can be a topic: the topic, or the name
/// of a speaker.
pub(super) fn alone(cursor: &mut Cursor<'_>) -> Option<Vec<String>> {
    let start = cursor.at();
    let first = cursor.peek_word();
    let determined = matches!(first, "my" | "your" | "our" | "the" | "his" | "her" | "their");
    let history = cursor.words().any(|word| words::HISTORY.contains(&&*word.lower));
    if history || doubts::says_nothing(first) && !determined {
        return None;
    }
    let mut selection = Selection::default();
    read(cursor, &mut selection, Joint::Either).ok()?;
    cursor.back(start);
    let (parts, _) = selection.parts("").ok()?;
    let parts = parts.iter().map(|part| part.at(Timestamp(0))).collect();
    let topic = Instruction::of(parts, Vec::new()).ok()?.to_string();
    let name = cursor.name(doubts::is_no_name).filter(|_| cursor.done());
    let name = name.map(|name| Criterion::Name(name).to_string());
    Some([topic].into_iter().chain(name).collect())
}

/// The end of the text: the first filter after which only filters follow. Reads those, and leaves the cursor
/// at the end.
fn text_end(cursor: &mut Cursor<'_>, selection: &mut Selection, start: usize) -> usize {
    let mut at = start + 1;
    while at < cursor.end() {
        cursor.back(at);
        let mut trial = selection.clone();
        if filters(cursor, &mut trial) && cursor.done() {
            *selection = trial;
            return at;
        }
        // More text follows these filters, so they are part of the text.
        at = cursor.at().max(at + 1);
    }
    cursor.back(cursor.end());
    cursor.end()
}

/// Consumes filters that can follow a text; returns whether there were any.
fn filters(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    loop {
        let at = cursor.at();
        if BEGINNING_PLACES.contains(&cursor.peek_word()) && places(cursor, selection).is_err() {
            return false;
        }
        let found = cursor.at() > at
            || containing(cursor, selection)
            || mentioned(cursor, selection)
            || said_then(cursor, selection);
        if !found {
            return at > start;
        }
    }
}

/// Consumes "that mention the vet": all that is left.
fn containing(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    let found = cursor.any(&["that", "which", "and"]) && cursor.phrases(&words::CONTAINING_VERBS);
    if found && read(cursor, selection, Joint::Both).is_ok() {
        return true;
    }
    cursor.back(start);
    false
}

/// Consumes "that Alice mentioned", unless somebody is named as the speaker already.
fn mentioned(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    let relative = cursor.any(&["that", "which"]);
    let capital =
        |at: usize| cursor.token(at).is_some_and(|token| token.text.starts_with(char::is_uppercase));
    let divided = relative || !capital(start - 1) || words::pronoun(cursor.peek_word()).is_some();
    if divided
        && !selection.is_spoken()
        && let Some(who) = subjects(cursor)
    {
        cursor.any(&["has", "have", "had", "just"]);
        if cursor.phrases(&MENTIONED) && selection.add_any_of(who).is_ok() {
            selection.narrow();
            return true;
        }
    }
    cursor.back(start);
    false
}

/// Consumes "yesterday", "from this morning" after what was said, unless the text names what could have
/// happened then.
fn said_then(cursor: &mut Cursor<'_>, selection: &mut Selection) -> bool {
    let start = cursor.at();
    let from = cursor.peek_word() == "from";
    let happened = doubts::is_event(cursor.word_at(start - 1));
    if (from || selection.is_spoken())
        && !happened
        && let Ok(Some(stretch)) = day_said(cursor)
        && selection.add_time(stretch)
    {
        return true;
    }
    cursor.back(start);
    false
}

/// Refuses a text that seems to say more than a topic: it contains an alternative, another instruction or an
/// unknown place, ends in a time or a speaker, or means nothing.
fn check(cursor: &Cursor<'_>, topic: Topic, spoken: bool) -> Result<()> {
    let (start, end) = (topic.from, topic.to);
    let refused = |from: usize, why| Err(InstructionError::part(cursor.slice(from, end), why));
    let words: Vec<&str> = (start..end).map(|at| cursor.word_at(at)).collect();
    let quoted = |at: usize| cursor.token(at).is_some_and(|token| token.kind == Kind::Quoted);
    let nothing = words.iter().all(|word| doubts::says_nothing(word) || word.is_empty());
    if !(start..end).any(quoted) && (nothing || !terms(&topic.text(cursor)).has_subject()) {
        return refused(start, NO_TOPIC);
    }
    for at in start..end {
        if let Some(why) = misplaced(cursor, start, at, end) {
            return refused(at, why);
        }
    }
    if words.len() > 1 && doubts::ends_in_time(&words) {
        return refused(start, TIME);
    }
    if words.last().is_some_and(|last| matches!(*last, "'s" | "'"))
        || ends_in_speaker(&words)
        || !spoken && ends_in_name(cursor, start, end)
    {
        return refused(start, SPEAKER);
    }
    Ok(())
}

/// Whether a text ends with a name that could be its speaker: "the hotel from Alice".
fn ends_in_name(cursor: &Cursor<'_>, start: usize, end: usize) -> bool {
    let capital =
        |at: &usize| cursor.token(*at).is_some_and(|token| token.text.starts_with(char::is_uppercase));
    let names = (start..end).rev().take_while(capital).count();
    names > 0 && end - names > start && matches!(cursor.word_at(end - names - 1), "from" | "by")
}

/// The reason the token at `at` does not belong in a text, if any.
fn misplaced(cursor: &Cursor<'_>, start: usize, at: usize, end: usize) -> Option<&'static str> {
    let token = cursor.token(at)?;
    let before = if at > start { cursor.word_at(at - 1) } else { "" };
    let next = if at + 1 < end { cursor.word_at(at + 1) } else { "" };
    let follows_subject = || {
        let capital = at > start
            && cursor.token(at - 1).is_some_and(|token| token.text.starts_with(char::is_uppercase));
        capital || before == "we" || words::pronoun(before).is_some() || words::role(before).is_some()
    };
    match token.kind {
        Kind::Quoted => None,
        Kind::Mark => mark_misplaced(cursor, token.text, before, at, end),
        Kind::Word if doubts::refused(&token.lower).is_some() => doubts::refused(&token.lower),
        Kind::Word if matches!(&*token.lower, "or" | "and/or") => Some(EITHER),
        Kind::Word if matches!(&*token.lower, "and" | "then" | "plus" | "&") => {
            let joins = (start..at).any(|before| topics::PREPOSITIONS.contains(&cursor.word_at(before)));
            (!joins || begins_another(cursor, at + 1, end)).then_some(ANOTHER)
        }
        Kind::Word if token.lower == "because" => Some(ANOTHER),
        Kind::Word if token.lower.starts_with("turn_") || token.lower.contains(":turn_") => Some(PLACE),
        Kind::Word if is_side(before) && doubts::is_time(&token.lower) => Some(TIME),
        Kind::Word if is_saying(&token.lower) && follows_subject() => Some(SPEAKER),
        Kind::Word => is_place(&token.lower, before, next).then_some(PLACE),
    }
}

/// Whether a word is a verb of saying or of giving: what precedes it would be the speaker.
fn is_saying(word: &str) -> bool {
    let said = |list: &[&str]| list.iter().any(|phrase| phrase.split(' ').next() == Some(word));
    said(&words::SAID)
        || said(&words::ANSWERED)
        || said(&words::DISCUSSED)
        || matches!(word, "gave" | "asked" | "told")
}

/// The reason a mark does not belong in a text, if any: a new sentence or another instruction follows it.
fn mark_misplaced(
    cursor: &Cursor<'_>,
    mark: &str,
    before: &str,
    at: usize,
    end: usize,
) -> Option<&'static str> {
    match mark {
        ";" | "!" | "?" | "…" | "—" | "–" => Some(ANOTHER),
        "." if !abbreviates(before) => Some(ANOTHER),
        "," | "-" => begins_another(cursor, at + 1, end).then_some(ANOTHER),
        _ => None,
    }
}

/// Whether a full stop after `word` does not end a sentence: "Dr.", "U.S.".
fn abbreviates(word: &str) -> bool {
    ABBREVIATIONS.contains(&word) || word.split('.').all(|piece| piece.chars().count() == 1)
}

fn is_side(word: &str) -> bool {
    matches!(word, "before" | "after" | "since" | "until" | "till")
}

/// Whether a noun used for places is used here as in a reference.
fn is_place(word: &str, before: &str, next: &str) -> bool {
    if is_side(before) && is_numeric(word) || word.starts_with("message") || word.starts_with("utterance") {
        return true;
    }
    match words::noun(word) {
        Some((Noun::Turn | Noun::Message, _)) => {
            BEFORE_PLACES.contains(&before)
                || words::end(before).is_some()
                || is_numeric(before)
                || is_numeric(next)
        }
        Some((Noun::Position | Noun::Sequence, _)) => is_numeric(next),
        _ => false,
    }
}

/// Whether a text ends with its speaker: "from the user", "that I said".
fn ends_in_speaker(words: &[&str]) -> bool {
    let (said, words) = match words {
        [rest @ .., "said"] => (true, rest),
        _ => (false, words),
    };
    let words = match words {
        [rest @ .., who] if words::role(who).is_some() || words::pronoun(who).is_some() => rest,
        _ => return false,
    };
    said || matches!(words, [.., "from" | "by"] | [.., "from" | "by", "the"])
}
