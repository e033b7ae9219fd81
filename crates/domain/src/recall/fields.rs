//! Scores an index's utterances by BM25 over passages and fields.
//!
//! A term counts in its own passage and, with the weights of [`super::weights`], for the neighbours of its
//! utterance; a speaker's name and a time count for all that this speaker said or that was said then. The
//! weighted occurrences around one passage form one frequency, which saturates once (BM25F).

use std::{ops::Range, sync::Arc};

use super::{
    around::{Place, all, before, document, is_answer, is_answered, is_others, last_session, next},
    block::IndexBlock,
    index::Index,
    sought::{Sought, SoughtTime},
    times::When,
    weights::{
        ABOVE, AROUND, ASKED_FOR, B, BEFORE, BEFORE_LAST, K1, NAME, NAMED, NEIGHBOUR_WORDS, NEXT, QUESTION,
        QUESTION_WORDS, REPEATED, REPEATED_WORDS, SAME, TIME, TOLD_WITH, USER,
    },
};
use crate::Role;

/// What a query looks for in every index.
pub(super) struct Asked<'a> {
    pub terms: &'a [Sought],
    pub times: &'a [SoughtTime],
    /// The present, in minutes since 1970.
    pub now: u32,
    /// The role whose words are asked for, and their factor.
    pub role: Option<(Role, f32)>,
    /// The most that recency can raise a score.
    pub recency: f64,
    /// The mean number of terms per passage.
    pub mean: f32,
    /// Whether the prompt is long enough to contain an utterance word for word.
    pub can_repeat: bool,
}

/// An utterance of an index that matches part of the query.
pub(super) struct Scored {
    pub block: u32,
    pub document: u32,
    pub score: f32,
    /// How much of the prompt it covers, as a sum of rarities.
    pub coverage: f32,
    /// Whether it has an identifier of the prompt that few utterances have.
    pub is_certain: bool,
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
    /// By block and number of a name: its worth as a speaker's, if the prompt names it.
    named: Vec<Vec<Option<Worth>>>,
    /// What words in times cover, by passage; empty without any.
    timely: Vec<f32>,
    /// The shares of rare identifiers that few passages have.
    certain: Vec<(usize, f32)>,
    /// Whether an utterance stands word for word in the prompt.
    is_repeated: bool,
    /// Whether the remaining terms are too common to lift an utterance that has none of the earlier ones.
    is_settled: bool,
}

/// The score of a passage so far.
#[derive(Clone, Copy, Default)]
struct Worth {
    score: f32,
    coverage: f32,
    /// How many of the passage's words are the prompt's: above 0 if it contains a term.
    words: f32,
}

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
        self.begin(blocks, words.iter().any(|word| word.is_timely));
        self.named = blocks.iter().map(|block| named(block, &names)).collect();
        for (term, at) in words.into_iter().zip(1..) {
            self.is_settled = rest * most_factor < least;
            rest -= most(term);
            self.spread(term, number, blocks, at);
            self.add(term, asked, blocks);
        }
        if self.any.is_empty() && (!names.is_empty() || !asked.times.is_empty()) {
            self.any = all(blocks);
        }
        let is_asked = asked.times.iter().any(|time| time.when == When::LastSession);
        let session = if is_asked { last_session(blocks, asked.now) } else { 0..0 };
        let any = std::mem::take(&mut self.any);
        let scored = any.iter().filter_map(|&place| self.scored(asked, &session, blocks, place));
        let scored = scored.collect();
        self.any = any;
        scored
    }

    fn begin(&mut self, blocks: &[Arc<IndexBlock>], is_timely: bool) {
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
        reset(&mut self.timely, if is_timely { passages } else { 0 }, 0.0);
        self.certain.clear();
        self.any.clear();
        self.is_repeated = false;
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
    fn add(&mut self, term: &Sought, asked: &Asked<'_>, blocks: &[Arc<IndexBlock>]) {
        let worth = term.rarity * term.weight;
        // a single character is a word to find, but none of the text's
        let words = if asked.can_repeat { term.words().max(f32::EPSILON) } else { f32::EPSILON };
        let (covering, most_covered) = (term.covered(), term.resembles.unwrap_or(1.0));
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
                let frequency =
                    own / (1.0 - B + B * f32::from(length) / asked.mean) + (around - same).max(0.0);
                let so_far = &mut self.scores[passages + passage];
                so_far.score += worth * saturated(frequency);
                let covered = own + AROUND * (around - same).max(0.0);
                let covered = covering * covered.min(most_covered);
                so_far.words += own.min(1.0) * words;
                match self.timely.get_mut(passages + passage).filter(|_| term.is_timely) {
                    Some(timely) => *timely += covered,
                    None => so_far.coverage += covered,
                }
                if own > 0.0 {
                    self.is_repeated |= repeats(so_far.words, document.length);
                    if term.certain > 0.0 {
                        self.certain.push((passages + passage, term.certain));
                    }
                }
            }
        }
    }

    /// Scores an utterance by its best passage, its speaker and its time. What answers something that stands word for
    /// word in the prompt ranks above that: who asks has it already.
    fn scored(
        &self,
        asked: &Asked<'_>,
        session: &Range<u32>,
        blocks: &[Arc<IndexBlock>],
        place: Place,
    ) -> Option<Scored> {
        let (mut scored, is_own) = self.scored_alone(asked, session, blocks, place)?;
        if is_own && !self.is_repeated {
            return Some(scored);
        }
        let before = before(blocks, place).filter(|before| is_others(blocks, *before, place));
        let repeated = before.filter(|before| self.is_repeated && self.repeats(blocks, *before));
        // Being next to a match is not a match, unless it answers one.
        let answers =
            || repeated.is_some() || before.is_some_and(|before| is_answered(blocks, before, place));
        (is_own || answers()).then_some(())?;
        if let Some((had, _)) = repeated.and_then(|had| self.scored_alone(asked, session, blocks, had)) {
            scored.score = scored.score.max(had.score * ABOVE);
            scored.coverage = scored.coverage.max(had.coverage);
            scored.is_certain |= had.is_certain;
        }
        Some(scored)
    }

    /// Scores an utterance without regard to what it answers; tells whether it matches the prompt itself.
    fn scored_alone(
        &self,
        asked: &Asked<'_>,
        session: &Range<u32>,
        blocks: &[Arc<IndexBlock>],
        place: Place,
    ) -> Option<(Scored, bool)> {
        let document = document(blocks, place);
        let (passage, Worth { mut score, mut coverage, words }) = self.best(blocks, place)?;
        let (mut factor, mut is_own) = (1.0, words > 0.0);
        let speaker = usize::from(document.name).checked_sub(1);
        if let Some(named) =
            speaker.and_then(|name| self.named[place.0 as usize].get(name).copied().flatten())
        {
            score += named.score;
            coverage += named.coverage;
            factor = NAMED;
            is_own = true;
        }
        let mut then = 0.0;
        for time in asked.times.iter().filter(|time| time.when.holds(document.minute, session)) {
            score += time.rarity * saturated(TIME);
            then += time.rarity;
            is_own = true;
        }
        coverage += then.max(self.timely.get(passage).copied().unwrap_or(0.0));
        if document.is_question() {
            factor *= question(document.length);
        }
        if document.role() == Role::User {
            factor *= USER;
        }
        if let Some((_, asked)) = asked.role.filter(|(role, _)| *role == document.role()) {
            factor *= asked;
        }
        let certain = self.certain.iter().filter(|(other, _)| *other == passage).map(|(_, share)| share);
        let is_certain = certain.sum::<f32>() > 0.99;
        let scored =
            Scored { block: place.0, document: place.1, score: score * factor, coverage, is_certain };
        (score > 0.0).then_some((scored, is_own))
    }

    /// The best passage of an utterance.
    fn best(&self, blocks: &[Arc<IndexBlock>], (block, document): Place) -> Option<(usize, Worth)> {
        let first = self.firsts[block as usize].1;
        let passages = blocks[block as usize].passages_of(document as usize);
        let scores = passages.map(|passage| (first + passage, self.scores[first + passage]));
        scores.max_by(|(_, one), (_, other)| one.score.total_cmp(&other.score))
    }

    fn repeats(&self, blocks: &[Arc<IndexBlock>], place: Place) -> bool {
        let words = self.best(blocks, place).map_or(0.0, |(_, best)| best.words);
        repeats(words, document(blocks, place).length)
    }
}

/// Whether an utterance stands word for word in the prompt if it has so many words of it.
fn repeats(words: f32, length: u16) -> bool {
    length >= REPEATED_WORDS && words >= REPEATED * f32::from(length)
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
        named * asked * USER * ABOVE * (1.0 + self.recency as f32) * 1.001
    }
}

/// The worth of each of a block's names as a speaker's, if the prompt names it.
fn named(block: &IndexBlock, names: &[&Sought]) -> Vec<Option<Worth>> {
    let plus = |so_far: Option<Worth>, term: &&Sought| {
        let Worth { score, coverage, words } = so_far.unwrap_or_default();
        let (score, coverage) = (score + term.rarity * saturated(NAME), coverage + term.covering());
        Some(Worth { score, coverage, words })
    };
    let worth = |name: &str| names.iter().filter(|term| term.wanted.names(name)).fold(None, plus);
    block.names.iter().filter(|_| !names.is_empty()).map(|name| worth(name)).collect()
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
