//! The terms of each passage in a block.

use std::ops::Range;

use super::dictionary::grow;

/// A passage with a term, and how often it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub passage: u16,
    pub count: Count,
}

/// A term of an utterance: its number, and whether it occurs in a question. In one word, which sorts fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stated(u32);

impl Stated {
    /// Terms are too few for the highest bit: their text has at most 2^32 bytes.
    pub(super) fn new(term: u32, is_asked: bool) -> Self {
        Self(term << 1 | u32::from(is_asked))
    }

    fn term(self) -> u32 {
        self.0 >> 1
    }

    fn is_asked(self) -> bool {
        self.0 & 1 != 0
    }
}

/// How often a term occurs in a passage: in statements and in questions, each counted up to fifteen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count(pub u8);

impl Count {
    const MOST: u8 = 15;

    fn of(same: &[Stated]) -> Self {
        let asked = same.iter().filter(|stated| stated.is_asked()).count();
        let few = |count: usize| count.min(usize::from(Self::MOST)) as u8;
        Self(few(same.len() - asked) | few(asked) << 4)
    }

    pub(super) fn told(self) -> u8 {
        self.0 & Self::MOST
    }

    pub(super) fn asked(self) -> u8 {
        self.0 >> 4
    }
}

/// The terms of passages: most of them by term, which is fast to search and small, and those of the newest
/// passages in order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    by_term: ByTerm,
    new: ByPassage,
}

/// Postings ordered by term.
#[derive(Clone, Debug, Default)]
pub(super) struct ByTerm {
    /// By term: the end of its passages.
    pub ends: Vec<u32>,
    pub passages: Vec<u16>,
    pub counts: Vec<Count>,
}

#[derive(Clone, Debug, Default)]
struct ByPassage {
    /// The number of passages before these.
    first: usize,
    /// By passage: the end of its terms.
    ends: Vec<u32>,
    terms: Vec<u32>,
    counts: Vec<Count>,
}

/// How many postings can stay unordered: this many, plus one for every [`OLD_FOR_NEW`] ordered ones.
const FEW: usize = 512;
const OLD_FOR_NEW: usize = 4;

impl Postings {
    /// Adds a passage with its terms, which it sorts.
    pub(super) fn push(&mut self, passage: &mut [Stated]) {
        let ByPassage { ends, terms, counts, .. } = &mut self.new;
        passage.sort_unstable();
        for same in passage.chunk_by(|one, other| one.term() == other.term()) {
            grow(terms);
            terms.push(same[0].term());
            grow(counts);
            counts.push(Count::of(same));
        }
        grow(ends);
        ends.push(terms.len() as u32);
    }

    /// Whether there are unordered postings.
    pub(super) fn has_new(&self) -> bool {
        !self.new.ends.is_empty()
    }

    /// Whether there are so many unordered postings that ordering them speeds up a search.
    pub(super) fn has_many_new(&self) -> bool {
        self.new.terms.len() > FEW + self.by_term.passages.len() / OLD_FOR_NEW
    }

    /// Orders all postings by term, given the number of terms.
    pub(super) fn order(&mut self, terms: usize) {
        let mut ends = vec![0_u32; terms + 1];
        self.each(|term, _| ends[term as usize + 1] += 1);
        for place in 1..ends.len() {
            ends[place] += ends[place - 1];
        }
        let count = ends[terms] as usize;
        let (mut passages, mut counts) = (vec![0_u16; count], vec![Count::default(); count]);
        self.each(|term, posting| {
            let next = &mut ends[term as usize];
            passages[*next as usize] = posting.passage;
            counts[*next as usize] = posting.count;
            *next += 1;
        });
        ends.pop();
        let first = self.new.first + self.new.ends.len();
        *self = Self {
            by_term: ByTerm { ends, passages, counts },
            new: ByPassage { first, ..ByPassage::default() },
        };
    }

    /// The postings by term, unless some are unordered.
    pub(super) fn ordered(&self) -> Option<&ByTerm> {
        (!self.has_new()).then_some(&self.by_term)
    }

    /// Creates postings of `passages` passages.
    pub(super) fn of(by_term: ByTerm, passages: usize) -> Self {
        Self { by_term, new: ByPassage { first: passages, ..ByPassage::default() } }
    }

    /// Calls `found` with the postings of the wanted terms and the index of each term in `wanted`, in passage
    /// order for each term.
    pub(super) fn each_of(&self, wanted: &[u32], mut found: impl FnMut(usize, Posting)) {
        for (place, &term) in wanted.iter().enumerate() {
            self.by_term.postings(term).for_each(|posting| found(place, posting));
        }
        self.new.each_of(wanted, found);
    }

    /// Calls `found` with the index of each wanted term and a number of passages that have it; the sum of these
    /// is the number of all.
    pub(super) fn count_of(&self, wanted: &[u32], mut found: impl FnMut(usize, usize)) {
        for (place, &term) in wanted.iter().enumerate() {
            found(place, self.by_term.range(term).len());
        }
        self.new.each_of(wanted, |place, _| found(place, 1));
    }

    /// Calls `found` with each posting and its term, in passage order for each term.
    fn each(&self, mut found: impl FnMut(u32, Posting)) {
        for term in 0..self.by_term.ends.len() as u32 {
            self.by_term.postings(term).for_each(|posting| found(term, posting));
        }
        self.new.each(found);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let Self { by_term, new } = self;
        let old = by_term.ends.capacity() * 4 + by_term.passages.capacity() * 2 + by_term.counts.capacity();
        old + new.ends.capacity() * 4 + new.terms.capacity() * 4 + new.counts.capacity()
    }
}

impl ByTerm {
    fn range(&self, term: u32) -> Range<usize> {
        let end = |term: usize| self.ends.get(term).map_or(self.passages.len(), |end| *end as usize);
        (term as usize).checked_sub(1).map_or(0, end)..end(term as usize)
    }

    fn postings(&self, term: u32) -> impl Iterator<Item = Posting> {
        let range = self.range(term);
        let passages = self.passages[range.clone()].iter();
        passages.zip(&self.counts[range]).map(|(&passage, &count)| Posting { passage, count })
    }
}

impl ByPassage {
    fn each_of(&self, wanted: &[u32], mut found: impl FnMut(usize, Posting)) {
        let mut is_wanted = vec![false; wanted.iter().max().map_or(0, |&term| term as usize + 1)];
        wanted.iter().for_each(|&term| is_wanted[term as usize] = true);
        let mut places: Vec<(u32, usize)> = wanted.iter().copied().zip(0..).collect();
        places.sort_unstable();
        self.each(|term, posting| {
            if is_wanted.get(term as usize) == Some(&true) {
                let from = places.partition_point(|(other, _)| *other < term);
                let same = places[from..].iter().take_while(|(other, _)| *other == term);
                same.for_each(|(_, place)| found(*place, posting));
            }
        });
    }

    fn each(&self, mut found: impl FnMut(u32, Posting)) {
        let mut from = 0;
        for (passage, &end) in (self.first..).zip(&self.ends) {
            for at in from..end as usize {
                found(self.terms[at], Posting { passage: passage as u16, count: self.counts[at] });
            }
            from = end as usize;
        }
    }
}
