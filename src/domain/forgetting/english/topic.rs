//! The text to look for: everything up to the end of the sentence, except for places that follow it ("about
//! Paris before turn 5").
//!
//! A text that seems to say more than a topic is refused rather than searched for; in quotes, any text is
//! accepted as is. [`super::topics`] separates several topics.

use crate::domain::{
    Timestamp,
    forgetting::{
        Criterion, InstructionError, doubts,
        words::{self, Noun},
    },
};

use super::{
    cursor::{Cursor, Kind},
    number::is_numeric,
    place::places,
    selection::Selection,
    topics::{self, begins_another},
};

const MISSING: &str = "the text to look for is missing";
const NO_TOPIC: &str = "does not name a topic by itself; write the words to look for, in quotes if necessary";
const EITHER: &str = "say and, if both are meant, or put quotes around the text";
const ANOTHER: &str = "one instruction at a time, or put quotes around the text to look for";
const PLACE: &str = "not understood as a place; fix it, or put quotes around the text to look for";
const TIME: &str = "give the time first, as in: what I said yesterday about …; or put quotes around the text";
const SPEAKER: &str = "say who spoke first, as in: what the user said about …; or put quotes around the text";

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 10] = ["mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "jr", "sr"];

/// Consumes the text after "about" or the like, and the places after it: all that is left.
///
/// # Errors
/// A missing text, or an unquoted one that [`check`] refuses.
pub(super) fn read(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<(), InstructionError> {
    cursor.mark(':');
    let introduced = cursor.at();
    let definite = cursor.any(&["the", "a"]);
    let named = cursor.any(&["word", "words", "phrase", "term", "terms", "text", "topic"]);
    let quoted = cursor.peek().is_some_and(|token| token.kind == Kind::Quoted);
    let followed = !cursor.done() && !matches!(cursor.peek_word(), "and" | "or" | "of" | "in" | "from");
    let introduces = named && (quoted || definite && followed);
    if !introduces {
        cursor.back(introduced);
    }
    let start = cursor.at();
    if cursor.done() {
        return Err(InstructionError::part(cursor.slice(start.saturating_sub(1), start), MISSING));
    }
    let end = text_end(cursor, selection, start);
    let topics = topics::split(cursor, start, end, "and");
    for topic in topics.iter().filter(|topic| !topic.is_quoted(cursor)) {
        if let Err(error) = check(cursor, topic.from, topic.to) {
            return Err(error.suggesting(topics::either(cursor, start, end)));
        }
    }
    selection.add(Criterion::About(topics.iter().map(|topic| topic.text(cursor)).collect()));
    Ok(())
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
    read(cursor, &mut selection).ok()?;
    cursor.back(start);
    let topic = selection.asked().ok()?.at(Timestamp(0)).to_string();
    let name = cursor.name(doubts::is_no_name).filter(|_| cursor.done());
    let name = name.map(|name| Criterion::Name(name).to_string());
    Some([topic].into_iter().chain(name).collect())
}

/// The end of the text: the first place after which only places follow. Reads those, and leaves the cursor at
/// the end.
fn text_end(cursor: &mut Cursor<'_>, selection: &mut Selection, start: usize) -> usize {
    let mut at = start + 1;
    while at < cursor.end() {
        cursor.back(at);
        let mut trial = selection.clone();
        if begins_place(cursor.peek_word()) && places(cursor, &mut trial).is_ok() && cursor.done() {
            *selection = trial;
            return at;
        }
        // More text follows these places, so they are part of the text.
        at = cursor.at().max(at + 1);
    }
    cursor.back(cursor.end());
    cursor.end()
}

/// Whether a place can begin with `word`.
fn begins_place(word: &str) -> bool {
    matches!(
        word,
        "before"
            | "prior"
            | "preceding"
            | "earlier"
            | "older"
            | "ahead"
            | "after"
            | "following"
            | "later"
            | "newer"
            | "subsequent"
            | "between"
            | "from"
            | "starting"
            | "beginning"
            | "up"
            | "through"
            | "in"
            | "of"
            | "during"
            | "within"
            | "at"
            | "so"
    )
}

/// Refuses a text that seems to say more than a topic: it contains an alternative, another instruction or an
/// unknown place, ends in a time or a speaker, or means nothing.
fn check(cursor: &Cursor<'_>, start: usize, end: usize) -> Result<(), InstructionError> {
    let refused = |from: usize, why| Err(InstructionError::part(cursor.slice(from, end), why));
    let words: Vec<&str> = (start..end).map(|at| cursor.word_at(at)).collect();
    let quoted = |at: usize| cursor.token(at).is_some_and(|token| token.kind == Kind::Quoted);
    if words.iter().all(|word| doubts::says_nothing(word) || word.is_empty()) && !(start..end).any(quoted) {
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
    if ends_in_speaker(&words) {
        return refused(start, SPEAKER);
    }
    Ok(())
}

/// The reason the token at `at` does not belong in a text, if any.
fn misplaced(cursor: &Cursor<'_>, start: usize, at: usize, end: usize) -> Option<&'static str> {
    let token = cursor.token(at)?;
    let before = if at > start { cursor.word_at(at - 1) } else { "" };
    let next = if at + 1 < end { cursor.word_at(at + 1) } else { "" };
    match token.kind {
        Kind::Quoted => None,
        Kind::Mark => mark_misplaced(cursor, token.text, before, at, end),
        Kind::Word if matches!(&*token.lower, "or" | "and/or") => Some(EITHER),
        Kind::Word if matches!(&*token.lower, "and" | "then" | "plus" | "&") => {
            begins_another(cursor, at + 1, end).then_some(ANOTHER)
        }
        Kind::Word if token.lower == "because" => Some(ANOTHER),
        Kind::Word if token.lower == "than" && before == "other" => Some(ANOTHER),
        Kind::Word if token.lower.starts_with("turn_") || token.lower.contains(":turn_") => Some(PLACE),
        Kind::Word if is_side(before) && doubts::is_time(&token.lower) => Some(TIME),
        Kind::Word => is_place(&token.lower, before, next).then_some(PLACE),
    }
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
    let preposition = matches!(
        before,
        "before"
            | "after"
            | "until"
            | "till"
            | "since"
            | "between"
            | "in"
            | "during"
            | "within"
            | "through"
            | "recent"
            | "previous"
            | "next"
            | "this"
            | "that"
            | "these"
            | "those"
    );
    if is_side(before) && is_numeric(word) || word.starts_with("message") || word.starts_with("utterance") {
        return true;
    }
    match words::noun(word) {
        Some((Noun::Turn | Noun::Message, _)) => {
            preposition || words::end(before).is_some() || is_numeric(before) || is_numeric(next)
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
