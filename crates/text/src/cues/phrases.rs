//! The phrases of `cues.tsv`, by their first words.

use std::{cmp::Reverse, sync::LazyLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::set::Cues;
use crate::{
    chars::{is_unspaced, span},
    language::{Language, Votes},
    normal::Normal,
};

/// A line is a language, a cue and a phrase. `^` marks a phrase that counts only at the beginning, `…` a gap of a few
/// words without a mark. Besides the public cues there are:
///
/// | `lead` | words that can stand before the beginning |
/// |---|---|
/// | `modal` | verbs that say what may be done |
/// | `only` | words that restrict what is beside them |
/// | `plain` | phrases that show nothing, and hide shorter ones in them that would |
pub(super) const TABLE: &str = include_str!("../cues.tsv");

pub(super) const LEAD: Cues = Cues::private(0);
pub(super) const MODAL: Cues = Cues::private(1);
pub(super) const ONLY: Cues = Cues::private(2);
const PLAIN: Cues = Cues::private(3);
pub(super) const PRIVATE: [(&str, Cues); 4] =
    [("lead", LEAD), ("modal", MODAL), ("only", ONLY), ("plain", PLAIN)];

/// A phrase in a sentence.
pub(super) struct Found {
    phrase: &'static Phrase,
    pub start: usize,
    pub end: usize,
}

struct Phrase {
    /// In its normal form.
    text: String,
    /// How many words it has.
    words: u32,
    /// What it shows, in each language that has it.
    meanings: SmallVec<[Meaning; 2]>,
}

/// What a phrase shows in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    /// The code of the language.
    pub language: &'static str,
    pub cue: Cues,
    /// It counts only at the beginning.
    pub opens: bool,
    /// It has two characters at most, of a script without spaces: as part of a longer word it means something else.
    pub is_brief: bool,
    /// The phrase with a gap that it is a half of: its row, and whether it ends it.
    pub half: Option<(usize, bool)>,
}

/// The phrases by what they begin with, and those with more behind it by the beginning of that as well; the longest
/// first.
static PHRASES: LazyLock<FxHashMap<String, Vec<Phrase>>> = LazyLock::new(|| {
    let mut all: FxHashMap<String, SmallVec<[Meaning; 2]>> = FxHashMap::default();
    for (row, line) in TABLE.lines().enumerate() {
        for (phrase, meaning) in meanings(row, line) {
            all.entry(Normal::of(phrase).text).or_default().push(meaning);
        }
    }
    let mut phrases: FxHashMap<String, Vec<Phrase>> = FxHashMap::default();
    for (text, meanings) in all {
        let words = text.matches(' ').count().max(1) as u32;
        let first = first(&text);
        let of_first = phrases.entry(first.to_owned()).or_default();
        let alike = match text == first {
            true => of_first,
            false => phrases.entry(wide(&text, first).to_owned()).or_default(),
        };
        alike.push(Phrase { text, words, meanings });
    }
    phrases.values_mut().for_each(|phrases| phrases.sort_by_key(|phrase| Reverse(phrase.text.len())));
    phrases
});

/// What a normal text begins with: a word and the blank before it, a mark, or a character of a script without spaces.
fn first(text: &str) -> &str {
    let lead = text.chars().next().map_or(0, char::len_utf8);
    let goes_on = |c| !matches!(c, ' ' | ',') && !is_unspaced(c);
    let is_alone = text.starts_with(|c| c == ',' || is_unspaced(c));
    &text[..if is_alone { lead } else { lead + span(&text[lead..], goes_on) }]
}

/// What it begins with, and the beginning of what follows, so that few phrases share it.
fn wide<'t>(text: &'t str, first: &str) -> &'t str {
    &text[..text.ceil_char_boundary(first.len() + 2)]
}

/// The phrase of a line, or the two halves of one with a gap.
fn meanings(row: usize, line: &'static str) -> Vec<(&'static str, Meaning)> {
    let mut cells = line.split('\t');
    let (Some(language), Some(name), Some(phrase)) = (cells.next(), cells.next(), cells.next()) else {
        return Vec::new();
    };
    let known = Cues::NAMES.iter().chain(&PRIVATE).find(|(known, _)| *known == name);
    let Some((_, cue)) = known.copied() else { return Vec::new() };
    let (phrase, opens) = phrase.strip_prefix('^').map_or((phrase, false), |rest| (rest, true));
    let is_brief = phrase.chars().all(is_unspaced) && phrase.chars().nth(2).is_none();
    let meaning = Meaning { language, cue, opens, is_brief, half: None };
    match phrase.split_once('…') {
        Some((first, second)) => [(first, false), (second, true)]
            .map(|(part, ends)| (part, Meaning { half: Some((row, ends)), ..meaning }))
            .into(),
        None => vec![(phrase, meaning)],
    }
}

/// The phrases in a normal text that are whole words, from left to right, the longest first.
pub(super) fn find(text: &str) -> Vec<Found> {
    let (mut found, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let rest = &text[start..];
        let stands_here = |phrase: &&Phrase| rest.starts_with(&phrase.text);
        let first = first(rest);
        let phrase = PHRASES.get(first).and_then(|of_first| {
            let longer = PHRASES.get(wide(rest, first)).and_then(|alike| alike.iter().find(stands_here));
            longer.or_else(|| of_first.iter().find(stands_here))
        });
        let end = start + phrase.map_or(first.len(), |phrase| phrase.text.len());
        found.extend(phrase.filter(|_| ends_word(text, start, end)).map(|phrase| Found {
            phrase,
            start,
            end,
        }));
        start = end;
    }
    found
}

impl Found {
    /// What it shows in these languages.
    pub(super) fn shows(&self, spoken: &[&str]) -> impl Iterator<Item = &'static Meaning> {
        self.phrase.meanings.iter().filter(|meaning| spoken.contains(&meaning.language))
    }
}

/// The languages that a sentence with these phrases can be in: those with the most function words and phrases in it.
pub(super) fn spoken(sentence: &str, votes: &Votes, matches: &[Found]) -> Vec<&'static str> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for found in matches {
        let mut languages: SmallVec<[&str; 4]> =
            found.phrase.meanings.iter().map(|meaning| meaning.language).collect();
        languages.dedup();
        for language in languages {
            let words = found.phrase.words;
            match counts.iter_mut().find(|(of, _)| *of == language) {
                Some((_, count)) => *count += words,
                None => {
                    counts.extend(Language::from_code(language).map(|of| (language, words + votes.count(of))))
                }
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let has_kana = sentence.contains(|c| matches!(c, '\u{3041}'..='\u{30FA}'));
    let spaced = counts.into_iter().filter(|(_, count)| Some(*count) == most).map(|(language, _)| language);
    spaced.chain([if has_kana { "ja" } else { "zh" }]).collect()
}

fn ends_word(text: &str, start: usize, end: usize) -> bool {
    let is_spaced = text[start..].starts_with([' ', ',']);
    let next = text[end..].chars().next();
    !is_spaced || next.is_none_or(|next| matches!(next, ' ' | ',') || is_unspaced(next))
}
