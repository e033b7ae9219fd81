//! The phrases of `cues.tsv`, in one automaton.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{normal::Normal, set::Cues};
use crate::{
    chars::is_unspaced,
    language::{Language, Votes},
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
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub phrase: usize,
    pub start: usize,
    pub end: usize,
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

/// All phrases.
pub(super) struct Phrases {
    automaton: AhoCorasick,
    /// What each phrase shows, in each language that has it.
    meanings: Vec<SmallVec<[Meaning; 2]>>,
    words: Vec<u32>,
}

static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let mut all: FxHashMap<String, SmallVec<[Meaning; 2]>> = FxHashMap::default();
    for (row, line) in TABLE.lines().enumerate() {
        for (phrase, meaning) in meanings(row, line) {
            all.entry(Normal::of(phrase).text).or_default().push(meaning);
        }
    }
    let (patterns, meanings): (Vec<String>, Vec<_>) = all.into_iter().unzip();
    let words = patterns.iter().map(|pattern| pattern.matches(' ').count().max(1) as u32).collect();
    let automaton = AhoCorasickBuilder::new().match_kind(MatchKind::LeftmostLongest).build(patterns).ok()?;
    Some(Phrases { automaton, meanings, words })
});

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

impl Phrases {
    /// All of `cues.tsv`, which is read once.
    pub(super) fn shared() -> Option<&'static Self> {
        PHRASES.as_ref()
    }

    /// The phrases in a normal text that are whole words, from left to right, the longest first.
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let matches = self.automaton.find_iter(text).map(|found| Found {
            phrase: found.pattern().as_usize(),
            start: found.start(),
            end: found.end(),
        });
        matches.filter(|found| ends_word(text, found)).collect()
    }

    /// What a phrase shows in these languages.
    pub(super) fn shows<'p>(
        &'p self,
        found: &Found,
        spoken: &'p [&str],
    ) -> impl Iterator<Item = &'p Meaning> {
        self.meanings[found.phrase].iter().filter(|meaning| spoken.contains(&meaning.language))
    }

    /// The languages that a sentence with these phrases can be in: those with the most function words and phrases in it.
    pub(super) fn spoken(&self, sentence: &str, votes: &Votes, matches: &[Found]) -> Vec<&'static str> {
        let mut counts: Vec<(&str, u32)> = Vec::new();
        for found in matches {
            let mut languages: SmallVec<[&str; 4]> =
                self.meanings[found.phrase].iter().map(|meaning| meaning.language).collect();
            languages.dedup();
            for language in languages {
                let words = self.words[found.phrase];
                match counts.iter_mut().find(|(of, _)| *of == language) {
                    Some((_, count)) => *count += words,
                    None => counts
                        .extend(Language::from_code(language).map(|of| (language, words + votes.count(of)))),
                }
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max();
        let has_kana = sentence.contains(|c| matches!(c, '\u{3041}'..='\u{30FA}'));
        let spaced =
            counts.into_iter().filter(|(_, count)| Some(*count) == most).map(|(language, _)| language);
        spaced.chain([if has_kana { "ja" } else { "zh" }]).collect()
    }
}

fn ends_word(text: &str, found: &Found) -> bool {
    let is_spaced = text[found.start..].starts_with([' ', ',']);
    let next = text[found.end..].chars().next();
    !is_spaced || next.is_none_or(|next| matches!(next, ' ' | ',') || is_unspaced(next))
}
