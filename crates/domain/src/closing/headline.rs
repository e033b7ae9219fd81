//! Turns sentences into a title.

use crate::closing::{
    english::{Asking, Word},
    pieces::{Piece, pieces, size, write},
    unspaced::without_opening,
};

/// The minimum length of a title in words, if that many were said (seed 000).
pub(super) const LEAST_WORDS: usize = 5;
/// The maximum length of a title in words (seed 000).
pub(super) const MOST_WORDS: usize = 8;
/// The least that a cut title has in a script without blanks, in characters.
const LEAST_WIDE: usize = 8;
/// A request in mid-sentence is used alone if at least this many words follow.
const ASKED_WORDS: usize = 4;

/// The title from the first saying, continued with the next ones while it is short.
pub(super) fn headline<'a>(sayings: impl Iterator<Item = &'a str>) -> String {
    let mut title: Vec<Piece> = Vec::new();
    for said in sayings {
        if size(&title) >= 2 * LEAST_WORDS {
            break;
        }
        let more = subject(said);
        if let (Some(last), false) = (title.last_mut(), more.is_empty()) {
            last.separates = true;
        }
        title.extend(more);
    }
    write(fit(&mut title))
}

/// The title from that of an issue.
pub(super) fn of_issue(title: &str) -> String {
    write(fit(&mut pieces(title)))
}

/// How many words `said` yields for a title.
pub(super) fn words_of(said: &str) -> usize {
    size(&subject(said)) / 2
}

/// Whether `said` asks for something, in English.
pub(super) fn requests(said: &str) -> bool {
    let words: Vec<Word> = said.split_whitespace().map(Word::of).collect();
    Asking::of(&words).requests().next().is_some()
}

/// What a sentence is about: its request, without the politeness. Less is removed if too little would be
/// left.
fn subject(said: &str) -> Vec<Piece<'_>> {
    let mut all = pieces(without_opening(said));
    all.retain(|piece| !Word::of(piece.text).hesitates());
    all.dedup_by(|next, last| next.size == 0 && last.size == 0);
    let words: Vec<Word> = all.iter().map(|piece| Word::of(piece.text)).collect();
    let asking = Asking::of(&words);
    let from_request = asking.requests().find(|at| size(&all[*at..]) >= 2 * ASKED_WORDS);
    let start = asking.end_of_lead(from_request.unwrap_or_else(|| asking.end_of_greeting()));
    let end = asking.start_of_thanks();
    let enough = |start: &usize| *start < end && size(&all[*start..end]) >= 2 * LEAST_WORDS;
    let polite = [start, from_request.unwrap_or(start), asking.end_of_greeting()];
    let start = polite.into_iter().find(enough).unwrap_or(start);
    all.get(start..end).unwrap_or_default().to_vec()
}

/// At most [`MOST_WORDS`] words, ending where a reader would pause.
fn fit<'a, 'b>(title: &'b mut Vec<Piece<'a>>) -> &'b [Piece<'a>] {
    let (end, _) = cut(title);
    &title[..end]
}

/// Drops articles if the title is too long with them; returns where it ends, and how good that end is.
fn cut(title: &mut Vec<Piece>) -> (usize, u8) {
    if size(title) > 2 * MOST_WORDS {
        let mut first = true;
        title.retain(|piece| std::mem::take(&mut first) || !Word::of(piece.text).is_article());
    }
    let best = best_end(title);
    if best.1 >= WHOLE {
        return best;
    }
    let mut bare = title.clone();
    bare.retain(|piece| !Word::of(piece.text).is_indefinite());
    let better = best_end(&bare);
    if better.1 < WHOLE {
        return best;
    }
    *title = bare;
    better
}

/// The best place for a title to end, and how good it is.
fn best_end(all: &[Piece]) -> (usize, u8) {
    if size(all) <= 2 * MOST_WORDS {
        return (all.len(), WHOLE + 1);
    }
    let ends = (1..all.len()).filter(|end| {
        let size = size(&all[..*end]);
        let least =
            if all[..*end].iter().any(|piece| piece.size == 1) { LEAST_WIDE } else { 2 * LEAST_WORDS };
        (least..=2 * MOST_WORDS).contains(&size)
    });
    let ranked = ends.map(|end| (pause(&all[..end], &all[end]), end));
    ranked.max().map_or((1, 0), |(pause, end)| (end, pause))
}

/// How well `said` works as a title: best if it has its beginning and ends where a reader would pause.
pub(super) fn wholeness(said: &str) -> u8 {
    let mut all = subject(said);
    let (end, pause) = cut(&mut all);
    let title = &all[..end];
    let words: Vec<Word> = title.iter().map(|piece| Word::of(piece.text)).collect();
    let is_open = pause <= WHOLE && words.iter().any(Word::joins_clauses);
    let begins = said.ends_with('?') || !words.first().is_some_and(Word::lacks_beginning);
    match size(title) >= 2 * LEAST_WORDS && begins {
        true if pause >= WHOLE && !is_open => 2,
        true if pause >= 2 => 1,
        _ => 0,
    }
}

/// A pause of at least this ends a phrase.
const WHOLE: u8 = 3;

/// How good an end for the title the place before `next` is.
fn pause(title: &[Piece], next: &Piece) -> u8 {
    let [.., before, last] = title else { return 0 };
    let is_name = |piece: &Piece| piece.text.starts_with(char::is_uppercase);
    match () {
        () if Word::of(last.text).leads_on() || is_open(title) => 0,
        () if Word::of(before.text).joins_clauses() => 1,
        () if last.separates || last.text.ends_with(PAUSES) => WHOLE + 1,
        () if is_name(last) && is_name(next) => 0,
        () if Word::of(next.text).joins() || last.ends_noun_before(next) => WHOLE,
        () if Word::of(next.text).determines() => 1,
        () => 2,
    }
}

/// Whether the argument list of a function is cut off.
fn is_open(title: &[Piece]) -> bool {
    let opening = title.iter().rposition(|piece| piece.text.find('(').is_some_and(|at| at > 0));
    opening.is_some_and(|at| title[at..].iter().all(|piece| !piece.text.contains(')')))
}

const PAUSES: [char; 9] = [',', ';', ':', '.', '?', '!', '，', '、', '。'];
