//! What a prompt and a text have in common.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{
    languages::Language,
    lookup::Sought,
    terms::{Reader, StopWords, TermKind},
};

/// Ranges of one match that are told, the first.
const MAX_RANGES: usize = 256;

/// Finds the terms of a prompt in texts.
pub struct Matched<'a> {
    prompt: &'a str,
    terms: &'a [Sought],
    /// The places of the prompt's terms, by what each may be in a text.
    places: FxHashMap<&'a str, usize>,
    reader: Reader,
}

/// Where a text and a prompt match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The prompt's words that the text has, as the prompt writes them and in its order. The parts of an identifier are
    /// named where the whole is not there.
    pub terms: Vec<String>,
    /// The bytes of the text that match, ascending, none of them twice: the first 256 ranges.
    pub ranges: Vec<Range<usize>>,
}

impl<'a> Matched<'a> {
    pub(super) fn new(prompt: &'a str, terms: &'a [Sought]) -> Self {
        let alternatives = (0..).zip(terms).flat_map(|(place, term)| {
            term.alternatives.iter().map(move |(alternative, _)| (alternative.as_str(), place))
        });
        Self { prompt, terms, places: alternatives.collect(), reader: Reader::default() }
    }

    /// What a text has of the prompt.
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

/// Adds a range to others, ascending, with which it may overlap.
fn add(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    let at = ranges.partition_point(|other| other.end <= range.start);
    let upto = ranges.partition_point(|other| other.start < range.end);
    let joined =
        ranges[at..upto].iter().fold(range, |all, one| all.start.min(one.start)..all.end.max(one.end));
    ranges.splice(at..upto, [joined]);
}
