//! The phrases of `cues.tsv`, in one automaton.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{normal::normal, set::Cues};
use crate::{chars::is_unspaced, language::Language};

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

/// A language with phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    Spaced(Language),
    Chinese,
    Japanese,
}

impl Tongue {
    fn of(code: &str) -> Option<Self> {
        match code {
            "zh" => Some(Self::Chinese),
            "ja" => Some(Self::Japanese),
            _ => Language::from_code(code).map(Self::Spaced),
        }
    }

    pub(super) fn language(self) -> Option<Language> {
        if let Self::Spaced(language) = self { Some(language) } else { None }
    }
}

/// What a phrase shows in a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub tongue: Tongue,
    pub cue: Cues,
    /// It counts only at the beginning.
    pub opens: bool,
    /// It has two characters at most, of a script without spaces: as part of a longer word it means something else.
    pub is_brief: bool,
    /// The phrase with a gap that it begins.
    pub first_half: Option<u16>,
    /// The phrase with a gap that it ends.
    pub second_half: Option<u16>,
}

/// What a phrase shows, in each language that has it.
type Meanings = SmallVec<[Meaning; 2]>;

/// All phrases.
pub(super) struct Phrases {
    automaton: AhoCorasick,
    meanings: Vec<Meanings>,
    words: Vec<u32>,
}

static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let mut list = List::default();
    for (row, line) in (0..).zip(TABLE.lines()) {
        list.add(row, line);
    }
    let mut builder = AhoCorasickBuilder::new();
    let automaton = builder.match_kind(MatchKind::LeftmostLongest).build(&list.patterns).ok()?;
    let words = list.patterns.iter().map(|pattern| pattern.matches(' ').count().max(1) as u32).collect();
    Some(Phrases { automaton, meanings: list.meanings, words })
});

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

    pub(super) fn meanings(&self, phrase: usize) -> &[Meaning] {
        &self.meanings[phrase]
    }

    /// The languages of a phrase, each once, with the number of its words.
    pub(super) fn tongues(&self, phrase: usize) -> SmallVec<[(Tongue, u32); 4]> {
        let mut tongues = SmallVec::new();
        for meaning in &self.meanings[phrase] {
            let one = (meaning.tongue, self.words[phrase]);
            if !tongues.contains(&one) {
                tongues.push(one);
            }
        }
        tongues
    }
}

fn ends_word(text: &str, found: &Found) -> bool {
    let is_spaced = text[found.start..].starts_with([' ', ',']);
    let next = text[found.end..].chars().next();
    !is_spaced || next.is_none_or(|next| matches!(next, ' ' | ',') || is_unspaced(next))
}

/// The patterns so far, and what each means.
#[derive(Default)]
struct List {
    patterns: Vec<String>,
    meanings: Vec<Meanings>,
    places: FxHashMap<String, usize>,
}

impl List {
    fn add(&mut self, row: u16, line: &str) {
        let mut cells = line.split('\t');
        let (Some(code), Some(name), Some(phrase)) = (cells.next(), cells.next(), cells.next()) else {
            return;
        };
        let mut names = Cues::NAMES.iter().chain(&PRIVATE);
        let cue = names.find(|(known, _)| *known == name).map(|(_, cue)| *cue);
        let (Some(tongue), Some(cue)) = (Tongue::of(code), cue) else { return };
        let (phrase, opens) = phrase.strip_prefix('^').map_or((phrase, false), |rest| (rest, true));
        let is_brief = phrase.chars().all(is_unspaced) && phrase.chars().nth(2).is_none();
        let meaning = Meaning { tongue, cue, opens, is_brief, first_half: None, second_half: None };
        match phrase.split_once('…') {
            Some((first, second)) => {
                self.mean(first, Meaning { first_half: Some(row), ..meaning });
                self.mean(second, Meaning { second_half: Some(row), ..meaning });
            }
            None => self.mean(phrase, meaning),
        }
    }

    fn mean(&mut self, phrase: &str, meaning: Meaning) {
        let pattern = normal(phrase);
        let place = *self.places.entry(pattern).or_insert_with_key(|pattern| {
            self.patterns.push(pattern.clone());
            self.meanings.push(Meanings::new());
            self.patterns.len() - 1
        });
        self.meanings[place].push(meaning);
    }
}
