//! What a prompt and a text have in common.

use std::ops::Range;

use rustc_hash::FxHashMap;
use utterd_text::Language;

use super::{
    sought::Sought,
    term::TermKind,
    terms::{Reader, StopWords},
};

/// The most ranges reported for a match.
const MAX_RANGES: usize = 256;

/// Finds the terms of a prompt in texts.
pub struct Matched<'a> {
    prompt: &'a str,
    terms: &'a [Sought],
    /// The index of each of the prompt's terms, by the forms it can have in a text.
    places: FxHashMap<&'a str, usize>,
    reader: Reader,
}

/// Where a text and a prompt match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The prompt's words found in the text, as written in the prompt and in its order. Parts of an
    /// identifier are listed if the whole does not occur.
    pub terms: Vec<String>,
    /// The byte ranges of the text that match, ascending and without overlap: the first 256.
    pub ranges: Vec<Range<usize>>,
}

impl<'a> Matched<'a> {
    pub(super) fn new(prompt: &'a str, terms: &'a [Sought]) -> Self {
        let alternatives = (0..).zip(terms).flat_map(|(place, term)| {
            term.alternatives.iter().map(move |(alternative, _)| (alternative.as_str(), place))
        });
        Self { prompt, terms, places: alternatives.collect(), reader: Reader::default() }
    }

    /// Matches a text against the prompt.
    pub fn of(&mut self, text: &str) -> Match {
        let mut has = vec![false; self.terms.len()];
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let language = self.reader.read(text, Language::English);
        let places = &self.places;
        self.reader.each_term(text, language, StopWords::Keep, |term| {
            if let Some(&place) = places.get(term.text) {
                has[place] = true;
                add(&mut ranges, term.range);
            }
        });
        ranges.truncate(MAX_RANGES);
        Match { terms: self.written(&has), ranges }
    }

    fn written(&self, has: &[bool]) -> Vec<String> {
        let mut written = Vec::new();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (place, term) in self.terms.iter().enumerate().filter(|(place, _)| has[*place]) {
            match term.wanted.kind {
                TermKind::Part if term.wanted.whole.is_some_and(|whole| has[whole]) => {}
                TermKind::Part => {
                    written.push((term.wanted.range.start, self.terms[place].alternatives[0].0.clone()))
                }
                _ => add(&mut runs, term.wanted.range.clone()),
            }
        }
        written.extend(runs.into_iter().map(|run| (run.start, self.prompt[run].to_owned())));
        written.sort_by_key(|(start, _)| *start);
        written.dedup();
        written.into_iter().map(|(_, word)| word).collect()
    }
}

/// Adds a range to ascending ones, merging it with those it overlaps.
fn add(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    let at = ranges.partition_point(|other| other.end <= range.start);
    let upto = ranges.partition_point(|other| other.start < range.end);
    let joined =
        ranges[at..upto].iter().fold(range, |all, one| all.start.min(one.start)..all.end.max(one.end));
    ranges.splice(at..upto, [joined]);
}
