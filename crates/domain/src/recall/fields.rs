//! Scores an index's utterances by BM25 over passages and fields.
//!
//! A term counts in its own passage and, with the weights of [`super::weights`], for the neighbours of its
//! utterance; a speaker's name and a time count for all that this speaker said or that was said then. The
//! weighted occurrences around one passage form one frequency, which saturates once (BM25F).

use std::{ops::Range, sync::Arc};

use super::{
    block::{Document, IndexBlock},
    index::Index,
    lookup::{Sought, SoughtTime},
    times::When,
    weights::{
        ALIKE, AROUND, ASKED_FOR, B, BEFORE, BEFORE_LAST, K1, NAME, NAMED, NEIGHBOUR_WORDS, NEXT, QUESTION,
        QUESTION_WORDS, RECENCY, SAME, TIME, TOLD_WITH, USER,
    },
};
use crate::Role;

/// The minimum gap between sessions, in minutes.
const SESSION_GAP: u32 = 180;

/// What a query looks for in every index.
pub(super) struct Asked<'a> {
    pub terms: &'a [Sought],
    pub times: &'a [SoughtTime],
    /// The present, in minutes since 1970.
    pub now: u32,
    /// The role whose words are asked for, and their factor.
    pub role: Option<(Role, f32)>,
    /// The mean number of terms per passage.
    pub mean: f32,
}

/// An utterance of an index that matches part of the query.
pub(super) struct Scored {
    pub block: u32,
    pub document: u32,
    pub score: f32,
    /// How much of the prompt it covers, as a sum of rarities.
    pub coverage: f32,
}

/// The buffers of a search, reused for one index after another.
#[derive(Default)]
pub(super) struct Scorer {
    /// By passage: how often the current term occurs in it.
    own: Vec<f32>,
    /// By utterance: the worth of the current term around it.
    around: Vec<f32>,
    /// By utterance: the factor for its terms when they count for neighbours.
    dampings: Vec<f32>,
    /// By passage.
    scores: Vec<Worth>,
    /// By utterance: the number of the last term that touched it, from 1.
    touched_by: Vec<u32>,
    /// The utterances that the current term touches, and those that any term touched.
    touched: Vec<Place>,
    any: Vec<Place>,
    /// By block: the index of its first utterance and of its first passage.
    firsts: Vec<(usize, usize)>,
    /// Whether the remaining terms are too common to lift an utterance that has none of the earlier ones.
    is_settled: bool,
}

/// The score of a passage so far.
#[derive(Clone, Copy, Default)]
struct Worth {
    score: f32,
    coverage: f32,
    /// Whether the passage itself contains a term.
    is_own: bool,
}

/// An utterance: its block, and its index in the block.
type Place = (u32, u32);

impl Scorer {
    /// Scores the utterances of an index that have a term, or all of them if only names and times are asked
    /// for.
    ///
    /// May omit utterances that are certain to score less than `least`.
    pub(super) fn score(
        &mut self,
        asked: &Asked<'_>,
        number: usize,
        index: &Index,
        least: f32,
    ) -> Vec<Scored> {
        let blocks = index.blocks();
        let names = |term: &&Sought| {
            blocks.iter().any(|block| block.names.iter().any(|name| term.wanted.names(name)))
        };
        let (names, mut words): (Vec<&Sought>, Vec<&Sought>) = asked.terms.iter().partition(names);
        words.sort_by(|one, other| most(other).total_cmp(&most(one)));
        words.retain(|word| !word.found_in(number).is_empty());
        let mut rest = asked.most_beside(&names) + words.iter().map(|word| most(word)).sum::<f32>();
        let most_factor = asked.most_factor(!names.is_empty());
        if rest * most_factor < least {
            return Vec::new();
        }
        self.begin(blocks);
        for (term, at) in words.into_iter().zip(1..) {
            self.is_settled = rest * most_factor < least;
            rest -= most(term);
            self.spread(term, number, blocks, at);
            self.add(term, asked.mean, blocks);
        }
        if self.any.is_empty() && (!names.is_empty() || !asked.times.is_empty()) {
            self.any = all(blocks);
        }
        let session = last_session(blocks, asked);
        let any = std::mem::take(&mut self.any);
        let scored = any.iter().filter_map(|&place| self.scored(asked, &names, &session, blocks, place));
        let scored = scored.collect();
        self.any = any;
        scored
    }

    fn begin(&mut self, blocks: &[Arc<IndexBlock>]) {
        self.firsts.clear();
        self.dampings.clear();
        let (mut documents, mut passages) = (0, 0);
        for block in blocks {
            self.firsts.push((documents, passages));
            // All at once: reading scattered utterances later would stall on memory.
            self.dampings.extend(block.documents.iter().map(|document| damping(document.length)));
            documents += block.documents.len();
            passages += block.passages.len();
        }
        reset(&mut self.own, passages, 0.0);
        reset(&mut self.around, documents, 0.0);
        reset(&mut self.scores, passages, Worth::default());
        reset(&mut self.touched_by, documents, 0);
        self.any.clear();
    }

    /// Adds a term's occurrences to their passages and to the neighbours of their utterances.
    fn spread(&mut self, term: &Sought, number: usize, blocks: &[Arc<IndexBlock>], at: u32) {
        for found in term.found_in(number) {
            let block = &blocks[found.block as usize];
            let (documents, passages) = self.firsts[found.block as usize];
            for &(posting, nearness) in &found.postings {
                let told = f32::from(posting.count.told()) * nearness;
                let asked = f32::from(posting.count.asked()) * nearness;
                let document = block.document_of(posting);
                let is_left_out = self.is_settled && self.touched_by[documents + usize::from(document)] == 0;
                if !is_left_out {
                    self.own[passages + usize::from(posting.passage)] += told + asked;
                }
                self.spread_around(blocks, (found.block, document.into()), (told, asked), at);
            }
        }
    }

    /// Adds the statements and questions of an utterance to its neighbours.
    fn spread_around(
        &mut self,
        blocks: &[Arc<IndexBlock>],
        place: Place,
        (told, asked): (f32, f32),
        at: u32,
    ) {
        let number = self.number(place);
        let damping = self.dampings[number];
        let worth = (told + asked) * damping;
        self.touch(place, SAME * worth, at);
        if let Some(before) = before(blocks, place) {
            self.touch(before, NEXT * worth * self.completing(number - 1), at);
        }
        let Some(next) = next(blocks, place) else { return };
        let answer = || (ASKED_FOR * asked + TOLD_WITH * told) * damping;
        let beside = BEFORE * worth * self.completing(number + 1);
        self.touch(next, if is_answer(blocks, place, next) { answer() } else { beside }, at);
        if let Some(second) = self::next(blocks, next) {
            self.touch(second, BEFORE_LAST * worth * self.completing(number + 2), at);
        }
    }

    /// The utterance's index among all of the conversation.
    fn number(&self, (block, document): Place) -> usize {
        self.firsts[block as usize].0 + document as usize
    }

    /// The factor for what the neighbours of an utterance say. At the ends of a conversation, the neighbours that
    /// it lacks are taken to be like those it has, so that equal utterances score equally there too.
    fn completing(&self, number: usize) -> f32 {
        let count = |has: bool, weight: f32| if has { weight } else { 0.0 };
        let lacks_none = (2..self.around.len().saturating_sub(1)).contains(&number);
        if lacks_none {
            return 1.0;
        }
        let before = count(number >= 1, BEFORE) + count(number >= 2, BEFORE_LAST);
        (BEFORE_LAST + BEFORE + NEXT) / (before + count(number + 1 < self.around.len(), NEXT))
    }

    fn touch(&mut self, place: Place, worth: f32, at: u32) {
        let document = self.number(place);
        if self.is_settled && self.touched_by[document] == 0 {
            return;
        }
        if self.touched_by[document] != at {
            if self.touched_by[document] == 0 {
                self.any.push(place);
            }
            self.touched_by[document] = at;
            self.touched.push(place);
        }
        self.around[document] += worth;
    }

    /// Adds a term's worth to the scores of all utterances it touches.
    fn add(&mut self, term: &Sought, mean: f32, blocks: &[Arc<IndexBlock>]) {
        let worth = term.rarity * term.weight;
        let (covering, most_covered) = (term.covering(), if term.resembles { ALIKE } else { 1.0 });
        for place in std::mem::take(&mut self.touched) {
            let block = &blocks[place.0 as usize];
            let (documents, passages) = self.firsts[place.0 as usize];
            let around = std::mem::take(&mut self.around[documents + place.1 as usize]);
            let document = block.documents[place.1 as usize];
            for passage in block.passages_of(place.1 as usize) {
                let own = std::mem::take(&mut self.own[passages + passage]);
                let length = block.passages[passage].length;
                // An utterance with a single passage has no other place for the term.
                let same = if length == document.length { SAME * own * damping(length) } else { 0.0 };
                let frequency = own / (1.0 - B + B * f32::from(length) / mean) + (around - same).max(0.0);
                let so_far = &mut self.scores[passages + passage];
                so_far.score += worth * saturated(frequency);
                let covered = own + AROUND * (around - same).max(0.0);
                so_far.coverage += covering * covered.min(most_covered);
                so_far.is_own |= own > 0.0;
            }
        }
    }

    /// Scores an utterance by its best passage, its speaker and its time.
    fn scored(
        &self,
        asked: &Asked<'_>,
        names: &[&Sought],
        session: &Range<u32>,
        blocks: &[Arc<IndexBlock>],
        place: Place,
    ) -> Option<Scored> {
        let block = &blocks[place.0 as usize];
        let document = block.documents[place.1 as usize];
        let first = self.firsts[place.0 as usize].1;
        let passages = block.passages_of(place.1 as usize).map(|passage| self.scores[first + passage]);
        let best = passages.max_by(|one, other| one.score.total_cmp(&other.score))?;
        let Worth { mut score, mut coverage, mut is_own } = best;
        let mut factor = 1.0;
        let speaker = block.name_of(&document);
        for name in names.iter().filter(|name| speaker.is_some_and(|speaker| name.wanted.names(speaker))) {
            score += name.rarity * saturated(NAME);
            coverage += name.covering();
            factor = NAMED;
            is_own = true;
        }
        for time in asked.times.iter().filter(|time| time.when.holds(document.minute, session)) {
            score += time.rarity * saturated(TIME);
            coverage += time.rarity;
            is_own = true;
        }
        // Being next to a match is not a match, unless it answers one.
        if !is_own && !before(blocks, place).is_some_and(|asking| is_answer(blocks, asking, place)) {
            return None;
        }
        if document.is_question() {
            factor *= question(document.length);
        }
        if document.role() == Role::User {
            factor *= USER;
        }
        if let Some((_, asked)) = asked.role.filter(|(role, _)| *role == document.role()) {
            factor *= asked;
        }
        let scored = Scored { block: place.0, document: place.1, score: score * factor, coverage };
        (score > 0.0).then_some(scored)
    }
}

impl Asked<'_> {
    /// The most that names and times can add to a score.
    fn most_beside(&self, names: &[&Sought]) -> f32 {
        let names: f32 = names.iter().map(|name| name.rarity * saturated(NAME)).sum();
        let times: f32 = self.times.iter().map(|time| time.rarity * saturated(TIME)).sum();
        names + times
    }

    /// The product of all factors at their maximum.
    fn most_factor(&self, is_named: bool) -> f32 {
        let named = if is_named { NAMED } else { 1.0 };
        let asked = self.role.map_or(1.0, |(_, factor)| factor);
        named * asked * USER * (1.0 + RECENCY as f32) * 1.001
    }
}

/// The most that a term can add to a score.
fn most(term: &Sought) -> f32 {
    term.rarity * term.weight * (K1 + 1.0)
}

fn reset<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

fn saturated(frequency: f32) -> f32 {
    frequency * (K1 + 1.0) / (frequency + K1)
}

fn damping(length: u16) -> f32 {
    NEIGHBOUR_WORDS / (NEIGHBOUR_WORDS + f32::from(length))
}

/// The factor for a question with `length` words.
fn question(length: u16) -> f32 {
    1.0 - QUESTION * (1.0 - f32::from(length) / QUESTION_WORDS).max(0.0)
}

fn document(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Document {
    blocks[block as usize].documents[document as usize]
}

/// Whether `next` answers a question at `place` by somebody else.
fn is_answer(blocks: &[Arc<IndexBlock>], place: Place, next: Place) -> bool {
    let (asking, answering) = (document(blocks, place), document(blocks, next));
    let name = |place: Place, of: &Document| blocks[place.0 as usize].name_of(of);
    asking.is_question()
        && (asking.role() != answering.role() || name(place, &asking) != name(next, &answering))
}

fn before(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Option<Place> {
    if document > 0 {
        return Some((block, document - 1));
    }
    let before = block.checked_sub(1)?;
    Some((before, (blocks[before as usize].documents.len() as u32).checked_sub(1)?))
}

fn next(blocks: &[Arc<IndexBlock>], (block, document): Place) -> Option<Place> {
    if (document as usize) + 1 < blocks[block as usize].documents.len() {
        return Some((block, document + 1));
    }
    blocks.get(block as usize + 1).filter(|next| !next.documents.is_empty()).map(|_| (block + 1, 0))
}

fn all(blocks: &[Arc<IndexBlock>]) -> Vec<Place> {
    let of = |(number, block): (u32, &Arc<IndexBlock>)| {
        (0..block.documents.len() as u32).map(move |document| (number, document))
    };
    (0..).zip(blocks).flat_map(of).collect()
}

/// The minutes of the session before the present one; the last session with utterances if there has been a
/// long pause.
fn last_session(blocks: &[Arc<IndexBlock>], asked: &Asked<'_>) -> Range<u32> {
    if !asked.times.iter().any(|time| time.when == When::LastSession) {
        return 0..0;
    }
    let mut minutes =
        blocks.iter().rev().flat_map(|block| block.documents.iter().rev()).map(|document| document.minute);
    let mut end = asked.now;
    let mut start = asked.now;
    let mut is_present = true;
    for minute in minutes.by_ref() {
        if start.saturating_sub(minute) >= SESSION_GAP {
            if !is_present {
                break;
            }
            (is_present, end) = (false, minute);
        }
        start = start.min(minute);
    }
    if is_present { 0..0 } else { start..end.saturating_add(1) }
}
