//! Looks up a prompt's terms in the indexes to search.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{
    block::IndexBlock,
    index::Index,
    language::languages::{Language, Languages},
    phrasing::share,
    postings::Posting,
    query::{Query, Wanted},
    similar::{longer, related, similar},
    terms::{TermKind, is_unspaced_letter},
    times::When,
    weights::{CHARACTER, KANA, PAIR_OF_IDEOGRAPHS, PAIR_OF_LETTERS, PART, PHRASING},
};

/// The most terms looked up; of a longer prompt, those of [`keep_telling`].
const MAX_TERMS: usize = 128;
/// The most words that no utterance has for which similar ones are looked up: the prompt's first ones.
const MAX_RESEMBLED: usize = 32;

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
    /// counts, nor for a word in a time, which counts as a time.
    pub covers: bool,
    /// How much of it counts towards covering the prompt: little for a word of every day.
    pub share: f32,
    /// Whether no utterance has the term, so that similar terms replace it.
    pub resembles: bool,
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

/// Looks up a query's terms in the indexes; `times` are the times it names, and their ranges.
pub(super) fn look_up(query: &Query, times: &[(Range<usize>, When)], indexes: &[Index]) -> Vec<Sought> {
    let languages = indexes.iter().fold(Languages::default(), |all, index| all.union(index.languages()));
    let is_time = |wanted: &Wanted| {
        times.iter().any(|(time, _)| time.start <= wanted.range.start && wanted.range.end <= time.end)
    };
    let mut wanted = query.wanted(languages);
    keep_telling(&mut wanted, indexes);
    let sought = wanted.into_iter().map(|wanted| Sought::of(is_time(&wanted), wanted, query.prompt()));
    let mut sought: Vec<Sought> = sought.collect();
    find(&mut sought, indexes, |_| true);
    add_longer(&mut sought, indexes);
    resemble(&mut sought, indexes);
    cover_by_parts(&mut sought);
    if sought.iter().all(|one| !one.covers || one.share == 0.0) {
        sought.iter_mut().for_each(|one| one.share = 1.0);
    }
    let count: usize = indexes.iter().map(|index| index.len()).sum();
    for one in &mut sought {
        one.rarity = rarity(count, one.documents(indexes));
        one.asked = if one.resembles { rarity(count, 0) } else { one.rarity };
        one.rarity = (one.rarity + one.asked) / 2.0;
    }
    sought
}

/// Keeps [`MAX_TERMS`] terms: those that some utterance has, the rarest first, then the prompt's first ones.
/// A part of an identifier is kept only with its whole, and an unknown whole as long as one of its parts.
fn keep_telling(wanted: &mut Vec<Wanted>, indexes: &[Index]) {
    if wanted.len() <= MAX_TERMS {
        return;
    }
    let mut having = passages(wanted, indexes);
    having.iter_mut().filter(|having| **having == 0).for_each(|having| *having = usize::MAX);
    for (place, one) in wanted.iter().enumerate() {
        if let Some(whole) = one.whole {
            having[whole] = having[whole].min(having[place]);
        }
    }
    let mut kept: Vec<usize> = (0..wanted.len()).collect();
    kept.sort_by_key(|&place| having[place]);
    kept.truncate(MAX_TERMS);
    kept.sort_unstable();
    let mut place = 0..;
    wanted.retain(|_| place.next().is_some_and(|place| kept.binary_search(&place).is_ok()));
    for one in wanted {
        one.whole = one.whole.and_then(|whole| kept.binary_search(&whole).ok());
    }
}

/// The number of passages with each of the terms.
fn passages(wanted: &[Wanted], indexes: &[Index]) -> Vec<usize> {
    let mut having = vec![0; wanted.len()];
    for block in indexes.iter().flat_map(|index| index.blocks()) {
        let (mut numbers, mut places) = (Vec::new(), Vec::new());
        for (place, one) in wanted.iter().enumerate() {
            let known = one.alternatives.iter().filter_map(|term| block.dictionary.find(term));
            for number in known {
                numbers.push(number);
                places.push(place);
            }
        }
        block.postings.count_of(&numbers, |number, count| having[places[number]] += count);
    }
    having
}

/// The rarity of something that `having` of `count` utterances have.
pub(super) fn rarity(count: usize, having: usize) -> f32 {
    let (count, having) = (count as f32, having.min(count) as f32);
    ((count - having + 0.5) / (having + 0.5)).ln_1p()
}

impl Sought {
    fn of(is_time: bool, wanted: Wanted, prompt: &str) -> Self {
        let share = share(&wanted, prompt);
        let alternatives = wanted.alternatives.iter().map(|term| (term.clone(), 1.0)).collect();
        let weight = match wanted.kind {
            TermKind::Part => PART,
            TermKind::Word if share == 0.0 => PHRASING,
            TermKind::Character => CHARACTER,
            TermKind::Pair if wanted.alternatives.iter().all(|pair| pair.chars().all(is_hiragana)) => KANA,
            _ => 1.0,
        };
        let covers = !is_time && wanted.whole.is_none();
        Self {
            wanted,
            alternatives,
            rarity: 0.0,
            asked: 0.0,
            weight,
            covers,
            share,
            resembles: false,
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
        !self.found.is_empty() && !self.resembles
    }

    /// How much of the prompt the term covers: nothing unless `covers` is set.
    pub(super) fn covering(&self) -> f32 {
        let of_kind = match self.wanted.kind {
            TermKind::Pair if self.wanted.word.chars().all(is_unspaced_letter) => PAIR_OF_LETTERS,
            TermKind::Pair | TermKind::Character => PAIR_OF_IDEOGRAPHS,
            _ => 1.0,
        };
        if self.covers { self.asked * self.weight * self.share * of_kind } else { 0.0 }
    }

    /// How many words the term counts for among those that tell what a prompt is about.
    pub(super) fn telling(&self) -> f32 {
        let is_pair = matches!(self.wanted.kind, TermKind::Pair | TermKind::Character);
        if self.covers && self.share == 1.0 { if is_pair { 0.5 } else { 1.0 } } else { 0.0 }
    }

    /// The number of utterances with the term.
    fn documents(&self, indexes: &[Index]) -> usize {
        let of_block = |found: &Found| {
            let block = &indexes[found.index as usize].blocks()[found.block as usize];
            let documents = found.postings.iter().map(|(posting, _)| block.document_of(*posting));
            let mut last = None;
            documents.filter(|document| last.replace(*document) != Some(*document)).count()
        };
        self.found.iter().map(of_block).sum()
    }
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

/// Finds the postings of the terms that `which` accepts.
fn find(sought: &mut [Sought], indexes: &[Index], which: impl Fn(&Sought) -> bool) {
    let places: Vec<usize> = (0..sought.len()).filter(|&place| which(&sought[place])).collect();
    let (mut numbers, mut of) = (Vec::new(), Vec::new());
    for (index, blocks) in indexes.iter().map(|index| index.blocks()).enumerate() {
        for (at, block) in blocks.iter().enumerate() {
            numbers.clear();
            of.clear();
            for &place in &places {
                for (term, nearness) in &sought[place].alternatives {
                    if let Some(number) = block.dictionary.find(term) {
                        numbers.push(number);
                        of.push((place, *nearness));
                    }
                }
            }
            block.postings.each_of(&numbers, |number, posting| {
                let (place, nearness) = of[number];
                sought[place].push(index as u32, at as u32, (posting, nearness));
            });
            for same in of.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
                if let Some(found) = sought[same[0].0].found.last_mut() {
                    found.postings.sort_by_key(|(posting, _)| posting.passage);
                }
            }
        }
    }
}

impl Sought {
    fn push(&mut self, index: u32, block: u32, posting: (Posting, f32)) {
        match self.found.last_mut().filter(|found| (found.index, found.block) == (index, block)) {
            Some(found) => found.postings.push(posting),
            None => self.found.push(Found { index, block, postings: vec![posting] }),
        }
    }
}

/// If no utterance has an identifier as a whole, its parts cover the prompt in its place, if any occur.
fn cover_by_parts(sought: &mut [Sought]) {
    let found = |place: usize| !sought[place].found.is_empty();
    let parted = |(place, one): (usize, &Sought)| {
        let whole = one.wanted.whole.filter(|whole| !found(*whole) && sought[*whole].covers)?;
        found(place).then_some(whole)
    };
    let wholes: FxHashSet<usize> = sought.iter().enumerate().filter_map(parted).collect();
    for (place, one) in sought.iter_mut().enumerate() {
        let is_part = one.wanted.whole.is_some_and(|whole| wholes.contains(&whole));
        one.covers = is_part || (one.covers && !wholes.contains(&place));
    }
}

/// Lets words match longer ones too: inflections that the language's stemmer leaves, and compounds. Longer
/// words that the English stemmer leaves are different words.
fn add_longer(sought: &mut [Sought], indexes: &[Index]) {
    let blocks = indexes.iter().flat_map(|index| index.blocks()).map(|block| &**block);
    let inflects = |block: &&IndexBlock| block.languages.iter().any(|language| language != Language::English);
    let blocks: Vec<&IndexBlock> = blocks.filter(inflects).collect();
    if blocks.is_empty() {
        return;
    }
    let is_known_word = |one: &Sought| one.wanted.kind == TermKind::Word && !one.found.is_empty();
    for one in sought.iter_mut().filter(|one| is_known_word(one)) {
        let more = longer(&one.alternatives[0].0, &blocks);
        one.again(more);
    }
    find(sought, indexes, |one| one.wanted.kind == TermKind::Word && one.found.is_empty());
}

/// Whether the word has no digits: a different number is not a typing error.
fn is_written(one: &Sought) -> bool {
    !one.wanted.word.contains(|c: char| c.is_numeric())
}

/// Lets words that no utterance has match one of their family or, without any, similar ones.
fn resemble(sought: &mut [Sought], indexes: &[Index]) {
    let is_unknown = |one: &Sought| {
        one.covers && one.wanted.kind == TermKind::Word && one.found.is_empty() && is_written(one)
    };
    let mut some = false;
    for one in sought.iter_mut().filter(|one| is_unknown(one)).take(MAX_RESEMBLED) {
        let stem = &one.alternatives[0].0;
        let related = related(&one.wanted.word, stem, indexes);
        let alike = if related.is_some() { Vec::new() } else { similar(stem, indexes) };
        one.resembles = !alike.is_empty();
        some |= one.resembles || related.is_some();
        one.again(alike.into_iter().chain(related).collect());
    }
    if some {
        find(sought, indexes, is_unknown);
    }
}

impl Sought {
    /// Adds alternatives; if there are any, the term must be looked up again.
    fn again(&mut self, more: Vec<(String, f32)>) {
        if !more.is_empty() {
            self.alternatives.extend(more);
            self.found.clear();
        }
    }
}
