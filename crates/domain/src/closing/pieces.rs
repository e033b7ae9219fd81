//! Splits a sentence into pieces, between which a title can be cut.

use unicode_segmentation::UnicodeSegmentation;

use crate::closing::unspaced::is_unspaced;

/// The limit for a word in a title, in bytes: longer addresses and paths are clipped.
const WORD_BYTES: usize = 48;

/// A word with the punctuation around it; in scripts without blanks, a part of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub text: &'a str,
    /// In half words: 2, or 1 for a piece in a script without blanks; 0 for punctuation alone.
    pub size: usize,
    /// Whether a blank precedes it.
    pub spaced: bool,
    /// Whether it ends a sentence that another one follows.
    pub separates: bool,
}

/// Splits a sentence into pieces.
pub(super) fn pieces(said: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for token in said.split_whitespace() {
        let start = pieces.len();
        match token.contains(is_unspaced) {
            true => pieces.extend(token.split_word_bounds().map(Piece::of)),
            false => pieces.push(Piece::of(token)),
        }
        pieces[start..].iter_mut().take(1).for_each(|first| first.spaced = true);
    }
    pieces
}

/// The total size in half words.
pub(super) fn size(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.size).sum()
}

/// Writes the pieces as a title: no punctuation at either end, and a capital first.
pub(super) fn write(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        let is_mark = matches!(piece.text, "," | "." | ";" | ":" | "?" | "!");
        if piece.spaced && !text.is_empty() && !is_mark {
            text.push(' ');
        }
        let said = clip(piece.text, WORD_BYTES);
        text.push_str(said);
        text.push_str(if said.len() < piece.text.len() { "…" } else { "" });
        if piece.separates && piece.text.ends_with(char::is_alphanumeric) {
            text.push(',');
        }
    }
    capital(trim(&balance(&text)))
}

impl<'a> Piece<'a> {
    fn of(text: &'a str) -> Self {
        let size = match () {
            () if !text.contains(char::is_alphanumeric) => 0,
            () if text.contains(is_unspaced) => 1,
            () => 2,
        };
        Self { text, size, spaced: false, separates: false }
    }
}

impl Piece<'_> {
    /// Whether a noun ends here: in Japanese, inflections continue in hiragana; in Chinese, 的 follows it.
    pub(super) fn ends_noun_before(&self, next: &Self) -> bool {
        let is_hiragana = |c: char| matches!(c, '\u{3040}'..='\u{309f}');
        let (last, first) = (self.text.chars().next_back(), next.text.chars().next());
        last.is_some_and(|c| is_unspaced(c) && !is_hiragana(c))
            && first.is_some_and(|c| is_hiragana(c) || c == '的')
    }
}

/// The first `limit` bytes of `text`, or slightly less, cut at a character boundary.
pub(super) fn clip(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Removes quotes and brackets whose other half was cut off, and the rest of a word after one.
fn balance(text: &str) -> String {
    const PAIRS: [(char, char); 7] =
        [('(', ')'), ('[', ']'), ('{', '}'), ('“', '”'), ('«', '»'), ('「', '」'), ('（', '）')];
    let count = |mark: char| text.matches(mark).count();
    let lone: Vec<char> =
        PAIRS.into_iter().filter(|(a, b)| count(*a) != count(*b)).flat_map(|(a, b)| [a, b]).collect();
    let odd_quotes = count('"') % 2 == 1;
    let is_lone = |c: char| lone.contains(&c) || odd_quotes && c == '"';
    let words = text
        .split(' ')
        .map(|word| word.trim_start_matches(is_lone).split(is_lone).next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn trim(text: &str) -> &str {
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | '-' | '–' | '—' | '…')
            || matches!(c, '的' | '。' | '，' | '、' | '；' | '：' | '？' | '！' | '؟' | '،' | '।')
    };
    let text = text.trim_end_matches(is_end);
    text.trim_start_matches(|c: char| is_end(c) && c != '.' && c != '-')
}

/// Capitalises a plain first word; an identifier, an address or a path stays as it is.
fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_plain =
        first.trim_end_matches(',').chars().all(|c| c.is_lowercase() || matches!(c, '\'' | '’' | '-'));
    let mut rest = text.chars();
    match rest.next() {
        Some(c) if is_plain => c.to_uppercase().chain(rest).collect(),
        _ => text.to_owned(),
    }
}
