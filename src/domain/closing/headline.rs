//! Sentences made into a title.

use crate::domain::closing::{
    english::{Asking, Word},
    pieces::{Piece, pieces, size, write},
};

/// A title has at least so many words, when so many were said (seed 000).
pub(super) const LEAST_WORDS: usize = 5;
/// A title has at most so many words (seed 000).
pub(super) const MOST_WORDS: usize = 8;
/// A request in the midst of a sentence is taken alone when so many words are behind it.
const ASKED_WORDS: usize = 4;

/// The title of what was said first, continued by what was said after it while it is short.
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

/// How many words `said` has for a title.
pub(super) fn words_of(said: &str) -> usize {
    size(&subject(said)) / 2
}

/// Whether `said` asks for something, as English puts it.
pub(super) fn requests(said: &str) -> bool {
    let words: Vec<Word> = said.split_whitespace().map(Word::of).collect();
    Asking::of(&words).requests().next().is_some()
}

/// What a sentence is about: the request in it, without how it was put; less is taken off when
/// too little would be left.
fn subject(said: &str) -> Vec<Piece<'_>> {
    let all = pieces(said);
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

/// At most [`MOST_WORDS`] words, ending where a reader pauses.
fn fit<'a, 'b>(title: &'b mut Vec<Piece<'a>>) -> &'b [Piece<'a>] {
    if size(title) > 2 * MOST_WORDS {
        let mut first = true;
        title.retain(|piece| std::mem::take(&mut first) || !Word::of(piece.text).is_article());
    }
    let all = &title[..];
    if size(all) <= 2 * MOST_WORDS {
        return all;
    }
    let ends = (1..all.len()).filter(|end| {
        let size = size(&all[..*end]);
        (2 * LEAST_WORDS..=2 * MOST_WORDS).contains(&size)
    });
    let best = ends.max_by_key(|end| (pause(&all[..*end], &all[*end]), *end));
    &all[..best.unwrap_or(1)]
}

/// How well a title ends before `next`.
fn pause(title: &[Piece], next: &Piece) -> u8 {
    let [.., before, last] = title else { return 0 };
    match () {
        () if Word::of(last.text).leads_on() => 0,
        () if Word::of(before.text).joins_clauses() => 1,
        () if last.separates || last.text.ends_with(PAUSES) => 4,
        () if Word::of(next.text).joins() || last.ends_noun_before(next) => 3,
        () => 2,
    }
}

const PAUSES: [char; 9] = [',', ';', ':', '.', '?', '!', '，', '、', '。'];
