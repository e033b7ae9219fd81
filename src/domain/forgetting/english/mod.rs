//! Plain English for what the short forms can express.
//!
//! A sentence consists of a polite wrapper, a verb of forgetting, an object, and a closing. Each of its words
//! is consumed by a rule, or the sentence is refused: no rule skips words it does not know.
//!
//! ```text
//! sentence   = wrapper object closing
//! wrapper    = { opener } [ question | wish ] { opener } [ verb ]
//! object     = quoted | time | "everything" { modifier } | "what" authored { modifier } | "all" { modifier }
//!            | [ "all" | "all of" | "every" | "any" ] phrase | "about" topic
//! phrase     = [ owner | "the" ] [ pick ] [ role ] noun [ numbers ] { modifier }
//!            | [ "the" | "our" | … ] [ "whole" | … ] history { place }
//! owner      = "my" | "your" | role "'s" | name "'s"
//! pick       = end [ count ] [ "of" phrase ] | count end | ordinal [ "to" ordinal ]
//! modifier   = place | time | source | authored | "about" topic | "with id" id | "so far" | …
//! place      = "before" reference | "after" reference | "between" pair | "in" reference
//!            | "from" reference "on" | "through" reference
//! source     = ( "from" | "by" | "of" ) subject
//! time       = "today" | "yesterday" | ( "before" | "since" | "after" | … ) moment | "on" date
//!            | "older than" duration | "in the last" duration | "between" moment "and" moment
//! authored   = [ "that" ] subject [ "has" ] said
//! subject    = "I" | "you" | [ "the" ] role | name
//! reference  = ( "turn" | "message" | "position" | "sequence" ) numbers | "the last two turns"
//! topic      = text { "and" text } { place }
//! ```
//!
//! If English says more than the short forms can (an exception, a negation, a condition, an alternative, a
//! second instruction) or needs a guess ("the last few", "until turn 4", "Monday"), the sentence is refused
//! with the reason and what might be meant.
//!
//! A sentence that is not understood is read again with its [`typos`] corrected.
//!
//! The parser is a recursive descent over tokens. It backtracks over bounded phrases only, so its time is
//! linear in the text: the worst 4,096 bytes take a millisecond.

mod cursor;
mod date;
mod modifier;
mod noun_phrase;
mod number;
mod object;
mod place;
mod reference;
mod selection;
mod time;
mod topic;
mod topics;
mod typos;

use crate::domain::{
    Role,
    forgetting::{Asked, Criterion, InstructionError, Take, canonical, doubts, words},
};

use self::{cursor::Cursor, selection::Selection};

/// Allowed before the verb, any number of times.
const OPENERS: [&str; 20] = [
    "please",
    "kindly",
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "alright",
    "well",
    "so",
    "now",
    "just",
    "simply",
    "go ahead and",
    "i think",
    "sorry",
    "oh",
    "oops",
    "actually",
    "wait",
];

/// Allowed before the verb, which must follow; they make the sentence a question.
const QUESTIONS: [&str; 5] = ["could you", "can you", "would you", "will you", "may i ask you to"];
/// Allowed before the verb, which must follow.
const WISHES: [&str; 16] = [
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "i need you to",
    "i want to",
    "i would like to",
    "i'd like to",
    "i need to",
    "i ask you to",
    "you can",
    "you may",
    "you should",
    "you must",
    "let us",
    "we should",
    "we can",
];

/// Allowed after the object.
const CLOSINGS: [&str; 12] = [
    "thank you very much",
    "thank you so much",
    "thank you",
    "many thanks",
    "thanks a lot",
    "thanks",
    "thx",
    "cheers",
    "please",
    "kindly",
    "for me",
    "for us",
];
/// The same, but a question mark after them does not make a question.
const TAGS: [&str; 4] = ["okay", "ok", "will you", "would you"];

/// The reason a misspelt sentence is not taken to mean everything.
const MISSPELT: &str = "a word is misspelt, and the sentence would mean everything stored; say all";

/// Parses a sentence.
///
/// # Errors
/// The first words that no rule consumes, or a part that is understood but cannot be expressed.
pub(super) fn parse(text: &str) -> Result<Asked, InstructionError> {
    let mut cursor = Cursor::new(text)?;
    let error = match sentence(&mut cursor, text) {
        Ok((asked, _)) => return Ok(asked),
        Err(error) => error,
    };
    let mut cursor = Cursor::new(text)?;
    match cursor.reread(typos::corrected).then(|| sentence(&mut cursor, text)) {
        Some(Ok((_, true))) => Err(InstructionError::part(text, MISSPELT)),
        Some(Ok((asked, false))) => Ok(asked),
        Some(Err(_)) | None => Err(error),
    }
}

/// Parses a sentence as it is; also returns whether it means everything stored.
fn sentence(cursor: &mut Cursor<'_>, text: &str) -> Result<(Asked, bool), InstructionError> {
    if let Some((word, why)) =
        cursor.words().find_map(|word| doubts::refused(&word.lower).map(|why| (word.text, why)))
    {
        return Err(InstructionError::part(word, why));
    }
    let asked = strip_closings(cursor);
    let wrapper = wrapper(cursor)?;
    if asked && !wrapper.asks {
        return Err(InstructionError::part(text, "a question; say what to forget"));
    }
    if wrapper.retracts {
        let mut selection = Selection::of(Criterion::Speaker(Role::User));
        selection.take(Take::Newest(1));
        return Ok((selection.asked()?, false));
    }
    if cursor.done() || !wrapper.verb && object::begins_quoted(cursor) {
        return Err(cursor.not_understood());
    }
    if wrapper.verb && canonical::is_canonical(cursor.rest()) && cursor.rest().contains(':') {
        let instruction = canonical::parse(cursor.rest())?;
        let holds_text = instruction.criteria().iter().any(|one| matches!(one, Criterion::About(_)));
        if !holds_text {
            return Ok((instruction.into(), false));
        }
    }
    let selection = object(cursor)?;
    let is_all = selection.is_all();
    if is_all && !wrapper.verb {
        return Err(InstructionError::part(text, "say what to do with all of it, as in: forget everything"));
    }
    Ok((selection.asked()?, is_all))
}

/// Consumes the object, which must be all that is left; if there is none, suggests what might be meant.
fn object(cursor: &mut Cursor<'_>) -> Result<Selection, InstructionError> {
    let start = cursor.at();
    let error = match object::object(cursor) {
        Ok(selection) if cursor.done() => return Ok(selection),
        Ok(_) => return Err(cursor.not_understood()),
        Err(error) => error,
    };
    cursor.back(start);
    let nothing_known = error == cursor.not_understood();
    match nothing_known.then(|| topic::alone(cursor)).flatten() {
        Some(forms) => Err(error.suggesting(forms)),
        None => Err(error),
    }
}

/// Removes closing politeness and marks; returns whether they included a question mark.
fn strip_closings(cursor: &mut Cursor<'_>) -> bool {
    let mut asked = false;
    loop {
        if cursor.drop_last_mark('?') {
            asked = true;
        } else if TAGS.iter().any(|tag| cursor.drop_last_phrase(tag)) {
            asked = false;
        } else if !['.', '!', ',', '…'].into_iter().any(|mark| cursor.drop_last_mark(mark))
            && !CLOSINGS.iter().any(|closing| cursor.drop_last_phrase(closing))
        {
            return asked;
        }
    }
}

/// What preceded the object.
struct Wrapper {
    /// It makes a question, as "could you" does.
    asks: bool,
    /// It includes a verb of forgetting.
    verb: bool,
    /// It is "scratch that", with nothing after it.
    retracts: bool,
}

/// Consumes politeness and the verb.
fn wrapper(cursor: &mut Cursor<'_>) -> Result<Wrapper, InstructionError> {
    openers(cursor);
    let question = cursor.phrases(&QUESTIONS);
    let mind = question && cursor.word("mind");
    let wish = question || cursor.phrases(&WISHES) || lets(cursor);
    openers(cursor);
    let before = cursor.at();
    let retracts = cursor.phrases(&words::RETRACTIONS) && cursor.done();
    if !retracts {
        cursor.back(before);
    }
    let verb = retracts || if mind { cursor.phrases(&words::GERUNDS) } else { cursor.phrases(&words::VERBS) };
    match wish && !verb {
        true => Err(cursor.not_understood()),
        false => Ok(Wrapper { asks: question, verb, retracts }),
    }
}

/// Consumes words without meaning before the verb.
fn openers(cursor: &mut Cursor<'_>) {
    while cursor.phrases(&OPENERS) {
        cursor.mark(',');
    }
}

/// Consumes "let's".
fn lets(cursor: &mut Cursor<'_>) -> bool {
    cursor.word("lets") || cursor.phrase("let 's")
}
