//! The ledger: identifiers, paths, amounts and dates that no chosen sentence tells, by who named them.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::domain::{
    TokenCounter,
    extractive::{choose::Weighed, lines::Lines, sentence::Sentence, words::NUMBER},
};

/// What was named in the last so many utterances is likeliest to be needed next; in twice as many, likelier
/// than the rest.
const LAST_UTTERANCES: usize = 4;
/// Of what several utterances name, so many count.
const MOST_UTTERANCES: usize = 5;
/// What was said is so many times likelier to be needed than what only a result of a tool names.
const SAID_FACTOR: usize = 3;
/// Bytes of a token, when entries are compared.
const TOKEN_BYTES: usize = 3;
/// What an entry costs beside its text, in tokens, when entries are compared.
const ENTRY_TOKENS: usize = 3;
/// What the head of a line costs, in tokens, when entries are compared.
const HEAD_TOKENS: usize = 6;
/// So many entries in succession that do not fit end the search.
const MAX_MISSES: u32 = 8;

/// Lines of what the chosen ones leave untold, of at most `budget` tokens together: those that are
/// likeliest to be needed again, for their length. Each names what one utterance or one of its calls named
/// first. In no particular order.
pub(super) fn ledger(
    lines: &Lines,
    weighed: &Weighed,
    chosen: &[usize],
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let mut taken = Ledger { lines, weighed, chosen, counter }.taken(budget);
    taken.sort_unstable_by_key(|entry| (entry.page, entry.line, entry.word));
    let pages = taken.chunk_by(|one, next| one.page == next.page);
    pages.map(|page| Ledger { lines, weighed, chosen, counter }.written(page)).collect()
}

/// A word that stands for the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// What one utterance says, or one of its calls.
    page: usize,
    line: usize,
    /// Its place among the line's words.
    word: usize,
    /// How likely it is to be needed.
    worth: usize,
}

/// What is known of a concept.
#[derive(Clone, Copy, Default)]
struct Mentions {
    /// Line and word.
    first: Option<(usize, usize)>,
    last_utterance: usize,
    utterances: usize,
    said: bool,
    /// It is the name of a tool.
    is_tool: bool,
}

struct Ledger<'a> {
    lines: &'a Lines,
    weighed: &'a Weighed,
    chosen: &'a [usize],
    counter: &'a dyn TokenCounter,
}

impl Ledger<'_> {
    fn taken(&self, budget: u32) -> Vec<Entry> {
        let entries = self.entries();
        let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
            entries.iter().zip(0..).map(|(entry, at)| (self.value(entry, false), Reverse(at))).collect();
        let mut opened = vec![false; self.lines.pages()];
        let mut was_taken = vec![false; entries.len()];
        let (mut left, mut misses) = (budget, 0);
        while let Some((_, Reverse(at))) = heap.pop() {
            let entry = &entries[at];
            if was_taken[at] {
                continue;
            }
            let cost = self.cost(entry, opened[entry.page]);
            if cost > left {
                misses += 1;
                if misses == MAX_MISSES {
                    break;
                }
                continue;
            }
            (left, misses, was_taken[at]) = (left - cost, 0, true);
            if !std::mem::replace(&mut opened[entry.page], true) {
                // what else the page names costs no head any more
                let first = entries.partition_point(|other| other.page < entry.page);
                let others =
                    entries[first..].iter().zip(first..).take_while(|(other, _)| other.page == entry.page);
                heap.extend(others.map(|(other, at)| (self.value(other, true), Reverse(at))));
            }
        }
        entries.into_iter().zip(was_taken).filter_map(|(entry, taken)| taken.then_some(entry)).collect()
    }

    /// What stands for choice, by page.
    fn entries(&self) -> Vec<Entry> {
        let mentions = self.mentions();
        let untold = mentions.iter().zip(0u32..).filter(|(_, concept)| !self.weighed.is_told(*concept));
        let mut entries: Vec<Entry> = untold.filter_map(|(of, _)| self.entry(of)).collect();
        entries.sort_unstable();
        entries
    }

    /// By concept.
    fn mentions(&self) -> Vec<Mentions> {
        let mut mentions = vec![Mentions::default(); self.weighed.concepts()];
        for line in 0..self.lines.count() {
            let utterance = self.lines.utterance(line);
            for (word, at) in
                self.weighed.words(line).iter().zip(0usize..).filter(|(word, _)| word.weight >= NUMBER)
            {
                let of = &mut mentions[word.concept as usize];
                let again = of.utterances > 0 && of.last_utterance == utterance;
                of.utterances += usize::from(!again);
                of.last_utterance = utterance;
                of.said |= !self.lines.is_found(line);
                of.is_tool |= self.lines.is_tool(line, word);
                if of.first.is_none() && self.lines.names(line, word) {
                    of.first = Some((line, at));
                }
            }
        }
        mentions
    }

    fn entry(&self, of: &Mentions) -> Option<Entry> {
        let (line, word) = of.first.filter(|_| !of.is_tool)?;
        let weight = self.weighed.words(line)[word].weight as usize;
        let recency = match self.lines.utterances() - of.last_utterance {
            age if age <= LAST_UTTERANCES => 3,
            age if age <= 2 * LAST_UTTERANCES => 2,
            _ => 1,
        };
        let source = if of.said { SAID_FACTOR } else { 1 };
        let worth = weight * recency * source * (1 + of.utterances.min(MOST_UTTERANCES));
        Some(Entry { page: self.lines.page(line), line, word, worth })
    }

    /// The entry's worth for its length.
    fn value(&self, entry: &Entry, opened: bool) -> usize {
        let head = if opened { 0 } else { HEAD_TOKENS };
        entry.worth * 64 / (ENTRY_TOKENS + head + self.name(entry).len() / TOKEN_BYTES)
    }

    /// The tokens that the entry adds to the ledger.
    fn cost(&self, entry: &Entry, opened: bool) -> u32 {
        let name = self.name(entry);
        self.counter.count(&match opened {
            true => format!("; {name}"),
            false => format!("{} {name}\n", self.head(entry.line)),
        })
    }

    fn name(&self, entry: &Entry) -> &str {
        self.weighed.words(entry.line)[entry.word].of(self.lines.said(entry.line))
    }

    /// `Assistant called edit:`, or `Assistant: noted` when a line tells of the call already.
    fn head(&self, line: usize) -> String {
        let page = self.lines.page(line);
        let speaker = self.lines.speaker(line);
        let is_told = || self.chosen.iter().any(|chosen| self.lines.page(*chosen) == page);
        match self.lines.tool(line) {
            Some(tool) if !is_told() => format!("{speaker} called {tool}:"),
            _ => format!("{speaker}: noted"),
        }
    }

    fn written(&self, page: &[Entry]) -> Sentence {
        let line = page[0].line;
        let names: Vec<&str> = page.iter().map(|entry| self.name(entry)).collect();
        let text = format!("{} {}\n", self.head(line), names.join("; "));
        let weights = page.iter().map(|entry| self.weighed.words(entry.line)[entry.word].weight);
        let (sequence, tokens) = (self.lines.sequence(line), self.counter.count(&text));
        Sentence { sequence, tokens, weight: weights.sum(), text: text.into() }
    }
}
