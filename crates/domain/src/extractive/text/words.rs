//! The weight of a word in a sentence, and the concept it stands for.

use std::{
    ops::{ControlFlow, Range},
    sync::LazyLock,
};

use rustc_hash::FxHashMap;

use super::shape::{FNV_BASIS, SHORT, Shape, hash, pair};
pub(in crate::extractive) use super::shape::{IDENTIFIER, NUMBER, PLAIN};

/// A word: its concept and its weight.
#[derive(Clone, Copy, Debug)]
pub(in crate::extractive) struct Word {
    /// Equal for words with the same meaning: lower-cased, without a plural's `s`.
    pub concept: u32,
    /// 0 for words with no content of their own.
    pub weight: u32,
    /// What the word indicates about its sentence.
    pub cue: Cue,
    /// Where the word starts in the scanned text, in bytes.
    pub start: u32,
    /// Where the word ends.
    pub end: u32,
}

impl Word {
    /// The word itself, given the scanned text.
    pub(in crate::extractive) fn of<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.end as usize]
    }
}

/// What a word indicates about its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extractive) enum Cue {
    None,
    /// Common in every sentence, or a greeting or acknowledgement.
    Filler,
    /// Something was settled.
    Decision,
    /// Something went wrong.
    Trouble,
    /// Something should be done.
    Plan,
    /// Something is left to do.
    Open,
}

/// Calls `each` for every word of `text`.
pub(in crate::extractive) fn scan(text: &str, mut each: impl FnMut(Word)) {
    let _all: ControlFlow<()> = scan_until(text, |word| {
        each(word);
        ControlFlow::Continue(())
    });
}

/// Calls `each` for the words of `text` until it breaks off.
///
/// All that a summary weighs passes through here, most of it several times, so ASCII is read byte by byte.
#[inline]
fn scan_until<B>(text: &str, mut each: impl FnMut(Word) -> ControlFlow<B>) -> ControlFlow<B> {
    let cues = &*CUES;
    let (mut at, mut is_first) = (0, true);
    let mut ideograph: Option<char> = None;
    while let Some(c) = next(text, at) {
        let end = at + c.len_utf8();
        if !c.is_ascii() && is_ideographic(c) {
            if let Some(before) = ideograph {
                let (start, end) = place(&(at - before.len_utf8()..end));
                each(Word { concept: pair(before, c), weight: SHORT, cue: Cue::None, start, end })?;
            }
            (at, ideograph) = (end, Some(c));
        } else if let Some((shape, end)) = plain(text, at) {
            each(word(&shape, text, at..end, is_first, cues))?;
            (at, is_first, ideograph) = (end, false, None);
        } else if is_word_char(c) {
            let run = at..end_of_run(text, end);
            at = run.end;
            if let Some(word) = classify(text, run, is_first, cues) {
                is_first = false;
                each(word)?;
            }
            ideograph = None;
        } else {
            (at, ideograph) = (end, None);
        }
    }
    ControlFlow::Continue(())
}

/// A word of nothing but small ASCII letters, but for a capital at its beginning, as most words are, and where it
/// ends.
#[inline]
fn plain(text: &str, at: usize) -> Option<(Shape, usize)> {
    let bytes = text.as_bytes();
    let shape = Shape::plain(&bytes[at..])?;
    let end = at + shape.letters as usize;
    let goes_on = |at: usize| {
        let byte = bytes.get(at).copied().unwrap_or(b' ');
        !byte.is_ascii() || is_word_char(byte.into())
    };
    // a sentence's full stop, a colon
    let ends = !goes_on(end) || matches!(bytes[end], b'.' | b':') && !goes_on(end + 1);
    ends.then_some((shape, end))
}

/// Where the run of word characters that includes everything before `at` ends.
fn end_of_run(text: &str, mut at: usize) -> usize {
    while let Some(c) = next(text, at) {
        let goes_on = match c.is_ascii() {
            true => is_word_char(c) || c == ',' && groups_digits(text, at),
            false => is_word_char(c) && !is_ideographic(c),
        };
        if !goes_on {
            break;
        }
        at += c.len_utf8();
    }
    at
}

/// The character at `at`.
fn next(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at)? {
        byte if byte.is_ascii() => Some(char::from(*byte)),
        _ => text[at..].chars().next(),
    }
}

/// Calls `each` for every word of `text` with content of its own, passing a number that is equal for words
/// with the same meaning.
pub(crate) fn concepts(text: &str, mut each: impl FnMut(u32)) {
    scan(text, |word| {
        if word.weight > 0 {
            each(word.concept);
        }
    });
}

/// The number of words of `text` with content of their own.
pub(in crate::extractive) fn count(text: &str) -> usize {
    let mut count = 0;
    concepts(text, |_| count += 1);
    count
}

/// Whether `text` has at least so many words with content of their own.
pub(in crate::extractive) fn has_words(text: &str, least: usize) -> bool {
    let mut lacks = least;
    let _found: ControlFlow<()> = scan_until(text, |word| {
        lacks -= usize::from(word.weight > 0 && lacks > 0);
        if lacks > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    lacks == 0
}

/// Whether `comma` groups digits, as in `1,000`.
fn groups_digits(text: &str, comma: usize) -> bool {
    let bytes = text.as_bytes();
    let behind = bytes.get(comma + 1..comma + 4);
    comma > 0
        && bytes[comma - 1].is_ascii_digit()
        && behind.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        && bytes.get(comma + 4).is_none_or(|next| !next.is_ascii_digit())
}

/// The concept of a single word, if it has content: not a function word, and longer than two letters or a
/// unit.
pub(in crate::extractive) fn says(word: &str) -> Option<u32> {
    let mut concept = None;
    let is_unit = || UNITS.iter().any(|unit| unit.eq_ignore_ascii_case(word));
    scan(word, |found| concept = (found.weight > 0 || is_unit()).then_some(found.concept));
    concept
}

/// Short units of measure and currency.
const UNITS: [&str; 22] = [
    "am", "pm", "kg", "g", "mg", "km", "m", "cm", "mm", "mi", "ft", "l", "ml", "h", "s", "ms", "kb", "mb",
    "gb", "tb", "px", "eur",
];

/// Leaves out what is around a word.
fn trim(text: &str, range: &mut Range<usize>) {
    range.end = range.start + text[range.clone()].trim_end_matches(|c| is_joiner(c) && c != '%').len();
    let trimmed =
        text[range.clone()].trim_start_matches(|c| is_joiner(c) && !matches!(c, '/' | '$' | '€' | '£' | '¥'));
    let start = range.end - trimmed.len();
    let before = &text[range.start..start];
    range.start = start
        - match trimmed.find('/') {
            // `./a.js`, `../a.js`
            Some(0) if trimmed.len() > 1 => {
                before.bytes().rev().take_while(|byte| *byte == b'.').count().min(2)
            }
            // `@scope/package`
            Some(1..) if before.ends_with('@') => 1,
            _ => 0,
        };
}

/// The word in `range`, if there is one.
fn classify(text: &str, mut range: Range<usize>, is_first: bool, cues: &FxHashMap<u32, Cue>) -> Option<Word> {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = &text.as_bytes()[range.clone()];
    if !is_plain(bytes.first()) || !is_plain(bytes.last()) {
        trim(text, &mut range);
    }
    let run = &text[range.clone()];
    let shape = Shape::of(run);
    (shape.letters + shape.digits > 0).then(|| word(&shape, text, range, is_first, cues))
}

#[inline]
fn word(shape: &Shape, text: &str, range: Range<usize>, is_first: bool, cues: &FxHashMap<u32, Cue>) -> Word {
    let run = &text[range.clone()];
    let is_plain = shape.is_plain();
    let cue = cues.get(&shape.concept).filter(|_| is_plain).copied().unwrap_or(Cue::None);
    let weight = if cue == Cue::Filler { 0 } else { shape.weight(run, is_first) };
    let is_plural = is_plain && shape.letters > 3 && run.ends_with('s') && !run.ends_with("ss");
    let concept = if is_plural { shape.without_last } else { shape.concept };
    let (start, end) = place(&range);
    Word { concept, weight, cue, start, end }
}

/// The range in 32 bits: scanned texts are far shorter than 4 GiB.
fn place(range: &Range<usize>) -> (u32, u32) {
    let bounded = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    (bounded(range.start), bounded(range.end))
}

fn is_word_char(c: char) -> bool {
    match ASCII_WORDS.get(c as usize) {
        Some(is_word) => *is_word,
        None => c.is_alphanumeric() || is_joiner(c),
    }
}

/// Which characters of ASCII, of which most text consists, are in words.
static ASCII_WORDS: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric() || is_joiner(c as char);
        byte += 1;
    }
    table
};

/// Characters allowed within a word or before an amount.
const fn is_joiner(c: char) -> bool {
    matches!(
        c,
        '_' | '-' | '.' | '/' | '@' | '#' | ':' | '+' | '%' | '$' | '\\' | '\'' | '’' | '€' | '£' | '¥'
    )
}

/// Chinese characters and kana, from scripts without blanks between words.
pub(in crate::extractive) fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

static CUES: LazyLock<FxHashMap<u32, Cue>> = LazyLock::new(|| {
    let lists = [
        (Cue::Filler, COMMON),
        (Cue::Filler, COURTESY),
        (Cue::Decision, DECISION),
        (Cue::Trouble, TROUBLE),
        (Cue::Plan, PLAN),
        (Cue::Open, OPEN),
    ];
    let mut cues = FxHashMap::default();
    for (cue, words) in lists {
        for word in words.split_whitespace() {
            cues.entry(word.chars().fold(FNV_BASIS, hash)).or_insert(cue);
        }
    }
    cues
});

/// Function words of English, without apostrophes. Other languages need no list: the first chosen sentence
/// covers their common words, which then count for nothing.
const COMMON: &str = "a about above after again all also am an and any are arent as at be because been \
    before being below both but by can cant could couldnt did didnt do does doesnt doing done dont down each \
    else few for from get gets getting give given go goes going gonna got had has have havent having he her \
    here heres hers him his how i id if ill im in into is isnt it its ive just lets like ll look looking looks \
    made make makes making many may maybe me might mine more most much my need needs no nor not now of off on \
    once one only or other our out over own please put really same see shall she should since so some such \
    take than that thats the their them then there theres these they theyre thing things this those through to \
    too try trying under up us use used using very want wanted wants was wasnt way we well were weve what whats \
    when where which while who whom whose why will with within without wont would wouldnt yet you your youre \
    yours youve";

/// Greetings, thanks, acknowledgements, offers of help.
const COURTESY: &str = "absolutely afternoon alright anything apologies apologize appreciate assist assistance \
    assistant assisting awesome bye certainly clarification clarify clarifying confirming cool course else evening excellent feel fine free further glad \
    good goodbye great happy hello help helped helpful helping hey hi hold know let lot lots moment morning nah nice nope \
    oh ok okay perfect patience please pleasure providing ready right sorry sounds sure thank thanks today understand understood welcome \
    wonderful worries yeah yep yes yup";

const DECISION: &str = "agree agreed approve approved book booked cancel canceled cancelled choose chose chosen \
    conclude concluded confirm confirmed create created deadline decide decided decision final finally fix fixed \
    implemented merged must prefer prefers remember rename renamed replaced resolved settled solved switch \
    updated";

const TROUBLE: &str = "broke broken bug bugs cannot crash crashed crashes denied error errors exception fail \
    failed failing fails failure failures fault invalid issue issues missing panic problem problems refused \
    rejected segfault timeout traceback unable unavailable unexpected unsupported warning wrong";

/// Work left to do.
const OPEN: &str = "blocked blocker fixme outstanding pending postponed remaining todo unanswered undecided unfinished \
    unresolved unsolved";

const PLAN: &str = "goal goals milestone milestones phase phases plan planned planning plans priorities priority \
    roadmap schedule scope step steps task tasks timeline";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extractive::text::shape::{ACRONYM, NAME};

    fn weights(text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        scan(text, |word| found.push(word.weight));
        found
    }

    fn meanings(text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        scan(text, |word| found.push(word.concept));
        found
    }

    #[test]
    fn what_is_needed_again_weighs_most() {
        let text = "sofia_kim_7287 HAT084 src/main.rs /tmp/x AgentSession ann@example.com std::io v1.2";
        assert!(weights(text).iter().all(|weight| *weight == IDENTIFIER), "{:?}", weights(text));
        assert_eq!(weights("For $250 on 2024-05-27, 11:00"), [0, NUMBER, 0, NUMBER, NUMBER]);
        assert_eq!(weights("fly to Paris via IAH"), [SHORT, 0, NAME, SHORT, ACRONYM]);
    }

    #[test]
    fn courtesies_weigh_nothing() {
        for text in
            ["Okay.", "Thanks!", "Thanks a lot!", "Sure, I'll help with that.", "You’re welcome", "Hi!"]
        {
            assert_eq!(weights(text).iter().sum::<u32>(), 0, "{text}");
        }
    }

    #[test]
    fn case_and_plural_make_no_difference() {
        assert_eq!(meanings("Flights"), meanings("flight"));
        assert_ne!(meanings("class"), meanings("clas"));
        assert_eq!(meanings("ПОГОДА"), meanings("погода"));
    }

    #[test]
    fn scripts_without_blanks_go_by_pairs() {
        assert_eq!(weights("天气预报"), [SHORT; 3]);
        assert_eq!(meanings("天气")[0], meanings("今天天气")[2]);
    }
}
