//! Words that make a sentence doubtful, in lower case: they add something that cannot be expressed, or only
//! by guessing.

use crate::forgetting::words::{self, Noun};

/// Words of exception.
const EXCEPTIONS: &str = "except excepting exception exceptions excluding exclude excludes but besides barring save \
saving only solely rather instead however although though aside apart";

/// Words of negation and of keeping.
const NEGATIONS: &str = "not never no none nor neither without cannot dont doesnt didnt isnt wasnt arent werent cant \
wont shouldnt wouldnt couldnt mustnt keep keeping keeps kept retain retaining preserve preserving";

/// Words of condition.
const CONDITIONS: &str = "if unless whenever otherwise";

/// Words that begin another instruction after "and", "then" or a comma, in addition to the verbs of
/// forgetting and the words that begin an object or a modifier.
const BEGINNINGS: &str = "remember store memorize memorise recall restore leave tell say show send add write start \
begin continue summarize summarise let make give do get go stop then also please everything anything nothing all what \
whatever every each any my your i you before after from by";

/// Units of time and days, in the singular.
const TIMES: &str = "second minute hour day week weekend fortnight month quarter year decade morning afternoon evening \
night noon midnight monday tuesday wednesday thursday friday saturday sunday january february march april may june july \
august september october november december";

/// Words that are a time on their own at the end of a text.
const WHEN: &str = "yesterday today tonight tomorrow earlier recently ago now lately already again before after since \
afterwards later temporarily forever";

/// Words that form a time with the unit after them.
const BEFORE_TIMES: &str =
    "last this next past previous that every each on in since until till for before after within by than";

/// Words that mean nothing on their own.
const EMPTY: &str = "it its that this these those them they him he her she his their me i you us we myself yourself \
himself herself themselves itself everything anything something nothing all what whatever which who someone anyone \
everyone somebody anybody everybody the a an any some my your our of to in on one ones there here thing things stuff \
both each every and topic subject same such";

/// Other words that are not names.
const NO_NAMES: &str = "for at with between during within through till until while when where how why or as is are was \
were has have had be been people whoever whose window buffer context archive summary summaries id name number few \
several many most half couple recent previous next so just thanks thank call calls question questions query queries \
request requests";

/// What happens at a time: after it, a time might be part of the text.
const EVENTS: &str = "meeting call appointment party dinner lunch breakfast trip flight game match exam test interview \
concert date event class lesson training session visit wedding birthday holiday vacation conference presentation train \
show movie film weather news forecast accident incident outage release launch";

/// Nouns that are utterances or point at them, and words that belong to sentences: not a topic unless
/// introduced.
const NO_SUBJECTS: &str = "thing things idea ideas rest remainder past above below following previous preceding next other \
others same question questions request requests joke jokes story stories poem song list lists code recipe email emails \
mail letter draft file files image images picture summary summaries suggestion suggestions advice example examples \
correction corrections explanation explanations error errors mistake mistakes point points topic topics subject word \
words sentence sentences paragraph fact facts way matter whole entire current recent context window buffer rules rule \
task goal world call calls one ones half most few several some many couple more stuff everything bit bits part parts \
is are was were be been has have had do does did will would can could should may might must went that which who where \
when what why how if please instead now then there here today yesterday tomorrow tonight";

/// The reason to refuse a sentence, or an unquoted text to look for, that contains `word` anywhere: the word
/// would change the meaning of everything else.
pub(super) fn refused(word: &str) -> Option<&'static str> {
    match () {
        () if holds(EXCEPTIONS, word) => {
            Some("this exception is not understood; put quotes around it if it is part of a text to look for")
        }
        () if holds(NEGATIONS, word) || word.ends_with("n't") => {
            Some("a negation is not understood; put quotes around it if it is part of a text to look for")
        }
        () if holds(CONDITIONS, word) => {
            Some("a condition is not understood; put quotes around it if it is part of a text to look for")
        }
        () => None,
    }
}

/// Whether a word can only begin another instruction, after "and", "then" or a comma.
pub(super) fn begins_another(word: &str) -> bool {
    let verb = words::VERBS.contains(&word) || words::GERUNDS.contains(&word);
    let topic = words::TOPIC.contains(&word) || words::CONTAINING.contains(&word);
    verb || words::end(word).is_some() || topic || holds(BEGINNINGS, word)
}

/// Whether `words`, the end of a text, are a time: "yesterday", "last week", "on Monday", "for an hour".
pub(super) fn ends_in_time(words: &[&str]) -> bool {
    match words {
        [.., last] if holds(WHEN, last) => true,
        [.., one, unit] if holds(BEFORE_TIMES, one) && is_time(unit) => true,
        [.., one, unit, day] if holds(BEFORE_TIMES, one) && is_time(unit) && is_numeric(day) => true,
        [.., one, _, unit] if holds(BEFORE_TIMES, one) && is_time(unit) => true,
        [.., "on" | "at", moment] => is_numeric(moment),
        [.., hour, "am" | "pm"] => is_numeric(hour),
        _ => false,
    }
}

/// Whether a word means nothing on its own, so that a text of only such words names no topic.
pub(super) fn says_nothing(word: &str) -> bool {
    holds(EMPTY, word)
}

/// Whether a word cannot be someone's name unless quoted.
pub(super) fn is_no_name(word: &str) -> bool {
    let time = is_time(word) || holds(WHEN, word);
    let known = words::role(word).is_some() || words::noun(word).is_some() || words::SAID.contains(&word);
    let phrase = words::HISTORY.contains(&word) || words::SPOKEN.contains(&word);
    time || known || phrase || begins_another(word) || says_nothing(word) || holds(NO_NAMES, word)
}

/// Whether something happens at a time.
pub(super) fn is_event(word: &str) -> bool {
    holds(EVENTS, word) || word.strip_suffix('s').is_some_and(|word| holds(EVENTS, word))
}

/// Whether a word does not belong in a topic that is not introduced.
pub(super) fn is_no_subject(word: &str) -> bool {
    let selects = words::noun(word).is_some() || words::end(word).is_some() || words::role(word).is_some();
    let known =
        words::HISTORY.contains(&word) || words::SAID.contains(&word) || words::pronoun(word).is_some();
    selects || known || is_time(word) || holds(NO_SUBJECTS, word) || words::VERBS.contains(&word)
}

/// Whether a noun means utterances or turns, and so does not belong in a text.
pub(super) fn is_selectable(word: &str) -> bool {
    matches!(words::noun(word), Some((Noun::Message | Noun::Turn | Noun::Reply | Noun::Output, _)))
}

/// Whether a word is a unit of time, a day or a month.
pub(super) fn is_time(word: &str) -> bool {
    holds(TIMES, word) || word.strip_suffix('s').is_some_and(|word| holds(TIMES, word))
}

fn is_numeric(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether `list` contains `word`.
fn holds(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
