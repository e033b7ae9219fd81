//! Which of a prompt's terms must be covered, and what an identifier covers.

use rustc_hash::FxHashSet;

use super::{
    query::Query,
    sought::Sought,
    stem::are_words,
    term::TermKind,
    wanted::Wanted,
    weights::{MISSING, RARE_UTTERANCES},
};

/// Lets the words around what the prompt asks cover nothing, if what it asks tells what it is about.
pub(super) fn leave_out_frame(sought: &mut [Sought], query: &Query) {
    let asked = query.asked();
    let is_asked = |one: &Sought| asked.iter().any(|asked| asked.contains(&one.wanted.range.start));
    if sought.iter().any(|one| one.telling() > 0.0 && is_asked(one)) {
        sought.iter_mut().for_each(|one| one.covers &= is_asked(one));
    }
}

/// If no utterance has hyphenated words as a whole, each of them covers the prompt.
pub(super) fn cover_by_words(sought: &mut [Sought]) {
    let is_missing = |one: &Sought| one.covers && one.found.is_empty() && are_words(&one.wanted.written);
    let missing: FxHashSet<usize> = (0..sought.len()).filter(|place| is_missing(&sought[*place])).collect();
    let parted: FxHashSet<usize> = sought.iter().filter_map(|one| one.wanted.whole).collect();
    for (place, one) in sought.iter_mut().enumerate() {
        let is_part = one.wanted.whole.is_some_and(|whole| missing.contains(&whole));
        one.covers = is_part || (one.covers && !(missing.contains(&place) && parted.contains(&place)));
    }
}

/// How much of the prompt a part covers if no utterance has the whole: its share of [`MISSING`].
pub(super) fn stands_for(sought: &[Sought], place: usize) -> f32 {
    let Some(whole) = sought[place].wanted.whole.filter(|whole| sought[*whole].found.is_empty()) else {
        return 0.0;
    };
    let of_whole = match sought[whole].wanted.whole {
        Some(_) => stands_for(sought, whole),
        None => sought[whole].covering(),
    };
    let length = |place: usize| sought[place].alternatives[0].0.len() as f32;
    MISSING * of_whole * (length(place) / length(whole)).min(1.0)
}

/// Marks the identifiers that at most [`RARE_UTTERANCES`] have. Of a run of pairs, each is an equal share.
pub(super) fn make_certain(sought: &mut [Sought], having: &[usize], prompt: &str) {
    let is_rare = |place: usize| (1..=RARE_UTTERANCES).contains(&having[place]);
    let count = |is: fn(char) -> bool| prompt.chars().filter(|c| is(*c)).count();
    let (latin, foreign) = (count(|c| c.is_ascii_alphabetic()), count(is_foreign));
    let shouts = count(char::is_lowercase) == 0 && latin > 0 && prompt.trim().contains(' ');
    let mut place = 0;
    while place < sought.len() {
        let first = place;
        let one = &sought[first];
        place += 1;
        if one.wanted.kind == TermKind::Pair {
            let overlap = |pair: &[Sought]| pair[1].wanted.range.start < pair[0].wanted.range.end;
            place += sought[first..].windows(2).take_while(|pair| overlap(pair)).count();
        }
        let run = first..place;
        let is_name = match one.wanted.kind {
            TermKind::Pair | TermKind::Character => latin > foreign,
            _ => {
                is_distinct(&one.wanted, shouts)
                    || (latin > foreign && one.wanted.written.contains(is_foreign))
            }
        };
        let is_whole = one.wanted.whole.is_none() && !one.is_timely;
        let is_said = run.clone().all(|place| sought[place].is_known());
        if is_whole && is_name && is_said && run.clone().any(is_rare) {
            let share = 1.0 / run.len() as f32;
            sought[run].iter_mut().for_each(|one| one.certain = share);
        }
    }
}

fn is_foreign(c: char) -> bool {
    c.is_alphabetic() && c > '\u{24F}'
}

/// Whether a word is an identifier by its shape: it has a digit, a mark, an inner capital, or capitals only.
fn is_distinct(wanted: &Wanted, shouts: bool) -> bool {
    let written = &wanted.written;
    let is_number = written.chars().all(char::is_numeric);
    let has = |is: fn(char) -> bool| written.contains(is);
    let has_inner = || written.chars().skip(1).any(char::is_uppercase);
    let is_capital = !has(char::is_lowercase);
    (has(char::is_numeric) && !(is_number && written.len() < 3))
        || (has(|c| !c.is_alphanumeric() && c != '\'' && c != '’') && !are_words(written))
        || (has_inner() && !(is_capital && shouts))
}
