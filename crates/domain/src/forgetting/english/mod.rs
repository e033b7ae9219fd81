//! Plain English for what the short forms can express.
//!
//! A sentence consists of a polite wrapper, a verb of forgetting, an object, and a closing. Each of its words
//! is consumed by a rule, or the sentence is refused: no rule skips words it does not know.
//!
//! ```text
//! sentence   = wrapper ( objects [ turn objects ] | "keep only" objects | "keep" objects "and forget the rest" )
//! objects    = object { "and" object }                               what any of them selects
//! object     = [ "everything" | "what" | "all" | "every" | "any" ] [ phrase ] { filter }
//!            | time | quoted | ( "the" | "my" | … ) topic | "about" topic
//! phrase     = [ owners | "the" ] [ picks ] [ roles ] noun [ numbers ] | [ "the" | … ] [ "whole" | … ] history
//! picks      = pick { "and" pick }
//! pick       = end [ count ] [ "of" phrase ] | count end | ordinal [ "to" ordinal | "to last" ]
//! filter     = place | time | source | authored | "about" topic | "with id" id | "so far" | …    all of them
//! place      = "before" reference | "after" reference | "between" pair | "in" reference
//!            | "from" reference "on" | "through" reference
//! source     = ( "from" | "by" | "of" ) subjects
//! time       = day | ( "before" | "since" | "after" | … ) moment | "on" date
//!            | "older than" duration | "in the last" duration | "between" moment "and" moment
//! day        = "today" | "yesterday" | "this morning" | "yesterday" part | "3 days ago" | weekday [ part ] | …
//! authored   = [ "that" ] subjects [ "has" ] said
//! subjects   = subject { ( "and" | "or" ) subject }
//! subject    = "I" | "you" | "we" | [ "the" ] role | "the" name "tool" | name
//! reference  = ( "turn" | "message" | "position" | "sequence" ) numbers | "the last two turns"
//! topic      = text { ( "and" | "or" ) text } { filter }
//! turn       = "except" | "but" | "other than" | "and keep" | …
//! ```
//!
//! Filters compose by AND: each further one selects less, never more. Two texts joined by "and" are two
//! topics, either of which selects ("about Paris and London"), except after a verb of mentioning or
//! containing ("mentioning Paris and London"): then both must be in the utterance.
//!
//! If English says more than the short forms can (a negation, a condition, a second instruction) or needs a
//! guess ("the last few", "until turn 4", "last week"), the sentence is refused with the reason and what
//! might be meant.
//!
//! A sentence that is not understood is read again with its [`typos`] corrected.
//!
//! The parser is a recursive descent over tokens. It backtracks over bounded phrases only, so its time is
//! linear in the text: the worst 4,096 bytes take a millisecond.

mod cursor;
mod date;
mod exclusion;
mod modifier;
mod moment;
mod noun_phrase;
mod number;
mod object;
mod pick;
mod place;
mod reference;
mod selection;
mod subject;
mod time;
mod topic;
mod topics;
mod typos;

use crate::{
    Role,
    forgetting::{Asked, Criterion, InstructionError, Result, Take, canonical, doubts, words},
    phrases::phrases,
};

pub(super) use self::moment::moment;

use self::{cursor::Cursor, exclusion::Meaning, selection::Selection};

/// Allowed before the verb, any number of times.
const OPENERS: [&str; 34] = phrases(
    "please|pls|kindly|hey|hi|hello|ok|okay|alright|well|so|now|just|simply|also|and|yes|yeah|go ahead and|\
    make sure to|be sure to|i think|sorry|oh|oops|actually|wait|hmm|if possible|if you can|if you could|\
    if you would|if you don't mind|do me a favor and",
);

/// Allowed before the verb, which must follow; they make the sentence a question.
const QUESTIONS: [&str; 13] = phrases(
    "could you possibly|would it be possible to|is it possible to|would it be ok to|could you|can you|\
    would you|will you|could we|can we|may i ask you to|can i ask you to|is there a way to",
);
/// Allowed before the verb, which must follow.
const WISHES: [&str; 20] = phrases(
    "i'd like to ask you to|i'd appreciate it if you could|i would appreciate it if you could|you need to|\
    i want you to|i would like you to|i'd like you to|i need you to|i want to|i would like to|i'd like to|\
    i need to|i ask you to|you can|you may|you should|you must|let us|we should|we can",
);

/// Allowed after the object.
const CLOSINGS: [&str; 21] = phrases(
    "thank you in advance|thanks in advance|thanks so much|if you don't mind|if that's ok|if you can|\
    if possible|right now|now|thank you very much|thank you so much|thank you|many thanks|thanks a lot|\
    thanks|thx|cheers|please|kindly|for me|for us",
);
/// The same, but a question mark after them does not make a question.
const TAGS: [&str; 4] = ["okay", "ok", "will you", "would you"];

/// The reason a misspelt sentence is not taken to mean everything.
const WHICH_ONES: &str = "too much in one sentence; send an instruction for each";
const MISSPELT: &str = "a word is misspelt, and the sentence would mean everything stored; say all";

/// Parses a sentence.
///
/// # Errors
/// The first words that no rule consumes, or a part that is understood but cannot be expressed.
pub(super) fn parse(text: &str) -> Result<Asked> {
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
fn sentence(cursor: &mut Cursor<'_>, text: &str) -> Result<(Asked, bool)> {
    let asked = strip_closings(cursor);
    let wrapper = wrapper(cursor)?;
    if asked && !wrapper.asks {
        return Err(InstructionError::part(text, "a question; say what to forget"));
    }
    let meaning = match wrapper.verb {
        Verb::Retract => retracted(),
        _ if cursor.done() => return Err(cursor.not_understood()),
        Verb::KeepOnly => exclusion::kept_only(cursor)?,
        Verb::Keep => exclusion::kept(cursor)?,
        Verb::None if object::begins_quoted(cursor) => return Err(cursor.not_understood()),
        Verb::None => forgotten(cursor)?,
        Verb::Forget => match short_form(cursor)? {
            Some(short) => return Ok((short, false)),
            None => forgotten(cursor)?,
        },
    };
    let is_all = meaning.kept.is_empty() && meaning.selected.iter().any(Selection::is_all);
    if is_all && wrapper.verb == Verb::None {
        return Err(InstructionError::part(text, "say what to do with all of it, as in: forget everything"));
    }
    Ok((meaning.asked(text)?, is_all))
}

/// "Scratch that": the user takes back the last message.
fn retracted() -> Meaning {
    let mut selection = Selection::of(Criterion::Speaker(Role::User));
    selection.take(Take::Newest(1));
    Meaning { selected: vec![selection], kept: Vec::new() }
}

/// Consumes short forms after a verb, unless they take the rest of the sentence as a text.
fn short_form(cursor: &mut Cursor<'_>) -> Result<Option<Asked>> {
    if !canonical::is_canonical(cursor.rest()) || !cursor.rest().contains(':') {
        return Ok(None);
    }
    let instruction = canonical::parse(cursor.rest())?;
    let mut criteria = instruction.parts().iter().flat_map(|part| part.criteria());
    let holds_text = criteria.any(|one| matches!(one, Criterion::About(_)));
    Ok((!holds_text).then(|| instruction.into()))
}

/// Consumes what follows a verb of forgetting; if that is nothing known, suggests what might be meant.
fn forgotten(cursor: &mut Cursor<'_>) -> Result<Meaning> {
    let (start, end) = (cursor.at(), cursor.end());
    cursor.any(&["only", "just"]);
    let error = match exclusion::forgotten(cursor) {
        Ok(meaning) => return Ok(meaning),
        Err(error) => error,
    };
    cursor.limit(end);
    cursor.back(start);
    let doubtful = cursor.words().find_map(|word| doubts::refused(&word.lower).map(|why| (word.text, why)));
    let nothing_known = error == cursor.not_understood();
    match doubtful {
        Some((word, why)) => Err(InstructionError::part(word, why)),
        None => match nothing_known.then(|| topic::alone(cursor)).flatten() {
            Some(forms) => Err(error.suggesting(forms)),
            None => Err(error),
        },
    }
}

impl Meaning {
    fn asked(self, text: &str) -> Result<Asked> {
        let means_one = self.selected.iter().any(Selection::means_one);
        if means_one && self.selected.len() > 1 {
            return Err(InstructionError::part(text, WHICH_ONES));
        }
        let (mut parts, mut except) = (Vec::new(), Vec::new());
        let (several, keeps) = (self.selected.len() > 1, !self.kept.is_empty());
        for selection in self.selected {
            let (some, but) = selection.parts(text)?;
            if !but.is_empty() && (several || keeps || some.len() > 1) {
                return Err(InstructionError::part(text, WHICH_ONES));
            }
            parts.extend(some);
            except.extend(but);
        }
        for selection in self.kept {
            let (some, but) = selection.parts(text)?;
            if !but.is_empty() {
                return Err(InstructionError::part(text, WHICH_ONES));
            }
            except.extend(some);
        }
        Asked::in_english(parts, except, means_one)
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
    verb: Verb,
}

/// What a sentence says to do with its object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// Nothing.
    None,
    Forget,
    /// "Keep".
    Keep,
    /// "Keep only".
    KeepOnly,
    /// "Scratch that", with nothing after it.
    Retract,
}

/// Consumes politeness and the verb.
fn wrapper(cursor: &mut Cursor<'_>) -> Result<Wrapper> {
    openers(cursor);
    let asks = cursor.phrases(&QUESTIONS);
    let mind = asks && cursor.word("mind");
    let wish = asks || cursor.phrases(&WISHES) || lets(cursor);
    openers(cursor);
    let before = cursor.at();
    let verb = match () {
        () if cursor.phrases(&words::RETRACTIONS) && cursor.done() => Verb::Retract,
        () => {
            cursor.back(before);
            verb(cursor, mind)
        }
    };
    cursor.commanded = verb != Verb::None;
    if verb == Verb::Forget {
        while place::scope(cursor) {}
    }
    match wish && verb == Verb::None {
        true => Err(cursor.not_understood()),
        false => Ok(Wrapper { asks, verb }),
    }
}

/// Consumes a verb; a gerund after "would you mind".
fn verb(cursor: &mut Cursor<'_>, mind: bool) -> Verb {
    match () {
        () if mind && cursor.phrases(&words::GERUNDS) => Verb::Forget,
        () if mind => Verb::None,
        () if cursor.phrases(&words::VERBS) => Verb::Forget,
        () if cursor.phrases(&words::KEEP_ONLY) => Verb::KeepOnly,
        () if cursor.any(&["keep", "retain"]) => Verb::Keep,
        () => Verb::None,
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
