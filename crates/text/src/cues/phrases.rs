//! The phrases of `cues.tsv`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Match, MatchKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::set::Cues;
use crate::{
    chars::is_unspaced,
    language::{Language, Votes},
    normal::Normal,
};

/// A line is a language, a cue and a phrase. `^` marks a phrase that counts only at the beginning, `…` a gap of a few
/// words without a mark.
pub(super) const TABLE: &str = include_str!("../cues.tsv");

/// A phrase in a sentence.
pub(super) struct Found {
    meanings: &'static [Meaning],
    /// How many words it has.
    words: u32,
    pub start: usize,
    pub end: usize,
}

/// What a phrase shows, in each language that has it.
type Meanings = SmallVec<[Meaning; 2]>;

/// What a phrase shows in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    /// The code of the language.
    pub language: &'static str,
    pub cue: Cues,
    /// It counts only at the beginning.
    pub opens: bool,
    /// The phrase with a gap that it is a half of: its row, and whether it ends it.
    pub half: Option<(usize, bool)>,
}

/// The phrases in their normal form, the longest first, and what each shows.
static PHRASES: LazyLock<Option<(AhoCorasick, Vec<Meanings>)>> = LazyLock::new(|| {
    let mut all: FxHashMap<String, Meanings> = FxHashMap::default();
    for (row, line) in TABLE.lines().enumerate() {
        for (phrase, meaning) in meanings(row, line) {
            all.entry(Normal::of(phrase).text).or_default().push(meaning);
        }
    }
    let (texts, meanings): (Vec<String>, Vec<Meanings>) = all.into_iter().unzip();
    let longest = AhoCorasickBuilder::new().match_kind(MatchKind::LeftmostLongest).build(texts).ok()?;
    Some((longest, meanings))
});

/// The phrase of a line, or the two halves of one with a gap.
fn meanings(row: usize, line: &'static str) -> Vec<(&'static str, Meaning)> {
    let mut cells = line.split('\t');
    let (Some(language), Some(name), Some(phrase)) = (cells.next(), cells.next(), cells.next()) else {
        return Vec::new();
    };
    let known = Cues::NAMES.iter().find(|(known, _)| *known == name);
    let Some((_, cue)) = known.copied() else { return Vec::new() };
    let (phrase, opens) = phrase.strip_prefix('^').map_or((phrase, false), |rest| (rest, true));
    let meaning = Meaning { language, cue, opens, half: None };
    match phrase.split_once('…') {
        Some((first, second)) => [(first, false), (second, true)]
            .map(|(part, ends)| (part, Meaning { half: Some((row, ends)), ..meaning }))
            .into(),
        None => vec![(phrase, meaning)],
    }
}

/// The phrases in a normal text that are whole words, from left to right, the longest first.
pub(super) fn find(text: &str) -> Vec<Found> {
    let Some((phrases, meanings)) = &*PHRASES else { return Vec::new() };
    let found = phrases.find_iter(text).filter(|found| ends_word(text, found.start(), found.end()));
    let phrase = |found: Match| Found {
        meanings: &meanings[found.pattern()],
        words: text[found.range()].bytes().filter(|byte| *byte == b' ').count().max(1) as u32,
        start: found.start(),
        end: found.end(),
    };
    found.map(phrase).collect()
}

impl Found {
    /// What it shows in these languages.
    pub(super) fn shows(&self, spoken: &[&str]) -> impl Iterator<Item = &'static Meaning> {
        self.meanings.iter().filter(|meaning| spoken.contains(&meaning.language))
    }
}

/// The languages that a sentence with these phrases can be in: those with the most function words and phrases in it.
pub(super) fn spoken(sentence: &str, votes: &Votes, matches: &[Found]) -> Vec<&'static str> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for found in matches {
        for meanings in found.meanings.chunk_by(|one, next| one.language == next.language) {
            let (language, words) = (meanings[0].language, found.words);
            match counts.iter_mut().find(|(of, _)| *of == language) {
                Some((_, count)) => *count += words,
                None => {
                    counts.extend(Language::from_code(language).map(|of| (language, words + votes.count(of))))
                }
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let has_kana = !sentence.is_ascii() && sentence.contains(|c| matches!(c, '\u{3041}'..='\u{30FA}'));
    let spaced = counts.into_iter().filter(|(_, count)| Some(*count) == most).map(|(language, _)| language);
    spaced.chain([if has_kana { "ja" } else { "zh" }]).collect()
}

fn ends_word(text: &str, start: usize, end: usize) -> bool {
    let is_spaced = text[start..].starts_with([' ', ',']);
    let next = text[end..].chars().next();
    !is_spaced || next.is_none_or(|next| matches!(next, ' ' | ',') || is_unspaced(next))
}
