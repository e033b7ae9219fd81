//! What a search looks for, as found in the indexes.

use super::{
    index::Index,
    postings::Posting,
    term::{TermKind, is_unspaced_letter},
    times::When,
    wanted::Wanted,
    weights::{CHARACTER, KANA, PAIR_OF_IDEOGRAPHS, PAIR_OF_LETTERS, PART, PHRASING},
};

/// A prompt's term, as found in the indexes.
#[derive(Debug)]
pub(super) struct Sought {
    pub wanted: Wanted,
    /// The terms in the indexes that it matches, and how close each match is.
    pub alternatives: Vec<(String, f32)>,
    /// How rare it is: an inverse document frequency, ln(1 + (N − n + 0.5) / (n + 0.5)), which is never negative.
    pub rarity: f32,
    /// The rarity of the term asked for; if no utterance has it but some resemble it, that of a term nobody
    /// used.
    pub asked: f32,
    pub weight: f32,
    /// Whether it counts towards covering the prompt. Not for a part of an identifier, because the whole
    /// counts, nor outside of what the prompt asks.
    pub covers: bool,
    /// Whether it is in a time that the prompt names: what is covered is the word or the time.
    pub is_timely: bool,
    /// For a part of an identifier that no utterance has: how much of that it covers.
    pub stands_for: f32,
    /// The share of an identifier that few utterances have: 1 for all of it.
    pub certain: f32,
    /// How much of it a similar term covers, if no utterance has the term itself.
    pub resembles: Option<f32>,
    /// By index and block, ascending.
    pub found: Vec<Found>,
}

/// The passages of a block that have a term.
#[derive(Debug)]
pub(super) struct Found {
    pub index: u32,
    pub block: u32,
    /// Postings, each with how close its term is.
    pub postings: Vec<(Posting, f32)>,
}

/// A time that a prompt names.
#[derive(Debug)]
pub(super) struct SoughtTime {
    pub when: When,
    pub rarity: f32,
}

/// The rarity of something that `having` of `count` utterances have.
pub(super) fn rarity(count: usize, having: usize) -> f32 {
    let (count, having) = (count as f32, having.min(count) as f32);
    ((count - having + 0.5) / (having + 0.5)).ln_1p()
}

impl Sought {
    pub(super) fn of(is_time: bool, wanted: Wanted) -> Self {
        let alternatives = wanted.alternatives.iter().map(|term| (term.clone(), 1.0)).collect();
        let weight = match wanted.kind {
            TermKind::Part => PART,
            TermKind::Word if wanted.share == 0.0 => PHRASING,
            TermKind::Character => CHARACTER,
            TermKind::Pair if wanted.alternatives.iter().all(|pair| pair.chars().all(is_hiragana)) => KANA,
            _ => 1.0,
        };
        let covers = wanted.whole.is_none();
        Self {
            wanted,
            alternatives,
            rarity: 0.0,
            asked: 0.0,
            weight,
            covers,
            is_timely: is_time,
            stands_for: 0.0,
            certain: 0.0,
            resembles: None,
            found: Vec::new(),
        }
    }

    /// The blocks of an index that have the term.
    pub(super) fn found_in(&self, index: usize) -> &[Found] {
        let from = self.found.partition_point(|found| (found.index as usize) < index);
        let rest = &self.found[from..];
        &rest[..rest.partition_point(|found| found.index as usize == index)]
    }

    /// Whether some utterance has the term itself, not just a similar one.
    pub(super) fn is_known(&self) -> bool {
        !self.found.is_empty() && self.resembles.is_none()
    }

    /// How much of the prompt an utterance with the term covers.
    pub(super) fn covered(&self) -> f32 {
        self.covering().max(self.stands_for)
    }

    /// How much of the prompt the term covers: nothing unless `covers` is set.
    pub(super) fn covering(&self) -> f32 {
        let of_kind = match self.wanted.kind {
            TermKind::Character => PAIR_OF_IDEOGRAPHS,
            TermKind::Joined => 1.0,
            _ => self.words(),
        };
        if self.covers { self.asked * self.weight * self.wanted.share * of_kind } else { 0.0 }
    }

    /// How many words of a text it is.
    pub(super) fn words(&self) -> f32 {
        match self.wanted.kind {
            TermKind::Pair if self.wanted.word.chars().all(is_unspaced_letter) => PAIR_OF_LETTERS,
            TermKind::Pair => PAIR_OF_IDEOGRAPHS,
            TermKind::Character | TermKind::Joined => 0.0,
            _ => 1.0,
        }
    }

    /// How many words of a text it is, apart from identifiers.
    pub(super) fn plain(&self) -> f32 {
        let is_plain = matches!(self.wanted.kind, TermKind::Word | TermKind::Pair);
        if is_plain && self.wanted.whole.is_none() { self.words() } else { 0.0 }
    }

    /// How many words the term counts for among those that tell what a prompt is about.
    pub(super) fn telling(&self) -> f32 {
        let is_pair = matches!(self.wanted.kind, TermKind::Pair | TermKind::Character);
        let tells = self.covers && !self.is_timely && self.wanted.share == 1.0;
        if tells { if is_pair { 0.5 } else { 1.0 } } else { 0.0 }
    }

    /// The number of utterances with the term.
    pub(super) fn documents(&self, indexes: &[Index]) -> usize {
        let of_block = |found: &Found| {
            let block = &indexes[found.index as usize].blocks()[found.block as usize];
            let documents = found.postings.iter().map(|(posting, _)| block.document_of(*posting));
            let mut last = None;
            documents.filter(|document| last.replace(*document) != Some(*document)).count()
        };
        self.found.iter().map(of_block).sum()
    }

    pub(super) fn push(&mut self, index: u32, block: u32, posting: (Posting, f32)) {
        match self.found.last_mut().filter(|found| (found.index, found.block) == (index, block)) {
            Some(found) => found.postings.push(posting),
            None => self.found.push(Found { index, block, postings: vec![posting] }),
        }
    }

    /// Adds alternatives; if there are any, the term must be looked up again.
    pub(super) fn again(&mut self, more: Vec<(String, f32)>) {
        if !more.is_empty() {
            self.alternatives.extend(more);
            self.found.clear();
        }
    }
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}
