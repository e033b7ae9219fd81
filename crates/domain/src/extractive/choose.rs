//! Chooses the lines that are worth most for their length, without repetition.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    ops::Range,
};

use crate::extractive::{
    focus::{Focus, Traits},
    naming::facts::exact,
    text::words::{Cue, PLAIN, Word, scan},
};

/// The most that recurrence adds to a word's weight: words that recur are what the talk is about.
const RECURRENCE: u32 = 2;
/// The most that a word adds to its line: identifiers that no line mentions go into the ledger.
const MOST_WEIGHT: u32 = 3;
/// The bonus of a sentence for a decision, and for trouble.
const CUE_BONUS: u32 = 5;
/// The bonus of a sentence for work left to do: people ask about it again (seed 004).
const OPEN_BONUS: u32 = 40;
/// The bonus for a feature that this kind of talk is remembered for.
const KIND_BONUS: u32 = 2;
/// The factor for a sentence that contains a term of the focus.
const FOCUS_FACTOR: u32 = 8;
/// The assumed cost of a line on top of its text, in tokens, when lines are compared.
const LINE_TOKENS: u32 = 16;
/// Assumed bytes per token when lines are compared.
const TOKEN_BYTES: u32 = 4;
/// A line that weighs less is not worth keeping.
const LEAST_WEIGHT: u32 = 5;
/// Age changes a weight by at most one part in this many: of lines weighed before, the newest is worth most.
const AGE_PARTS: u64 = 4;
/// A budget's remainder smaller than this is left unused.
const LEAST_TOKENS: u32 = 4;
/// How often a line is weighed again against what was chosen; after that it is taken as it is. Keeps the work
/// linear in the number of lines.
const MAX_REVISIONS: u8 = 16;
/// How a call's line goes on if it failed.
const FAILED_CALL: &str = ") → error";
/// The search ends after this many lines in a row that do not fit.
const MAX_MISSES: u32 = 8;

/// What is known of a line's weight before its words are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Worth {
    /// The weight from an earlier summary.
    Known(u32),
    /// The weight of its words plus a bonus, times a percentage.
    Fresh { bonus: u32, percent: u32 },
    /// Chosen only in a second pass, if there is room.
    Rest { bonus: u32 },
}

/// Who a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    User,
    /// The assistant, or a call that changed nothing.
    Other,
}

/// Candidate lines.
#[derive(Debug, Default)]
pub(super) struct Weigher {
    items: Vec<Item>,
    words: Vec<Word>,
}

#[derive(Debug)]
struct Item {
    words: Range<usize>,
    voice: Voice,
    worth: Worth,
    /// Its own weight.
    weight: u32,
    /// Its weight if the ledger can name its identifiers.
    pull: u32,
    bytes: u32,
    wanted: bool,
}

impl Weigher {
    /// Adds a line and returns true, or returns false if the line carries no information.
    pub(super) fn add(&mut self, line: &str, voice: Voice, worth: Worth, focus: &Focus) -> bool {
        let start = self.words.len();
        let (mut wanted, mut traits) = (false, Traits::default());
        scan(line, |word| {
            wanted |= focus.holds(word.concept);
            focus.see(&word, &mut traits);
            if word.weight > 0 {
                self.words.push(word);
            }
        });
        if self.words.len() == start {
            return false;
        }
        // that a call failed is news, even where its words were said before
        if voice == Voice::Other && line.contains(FAILED_CALL) {
            let (concept, weight, cue) = (exact(line), MOST_WEIGHT, Cue::None);
            self.words.push(Word { concept, weight, cue, start: 0, end: 0 });
        }
        let cues = CUE_BONUS * (u32::from(traits.decision) + u32::from(traits.trouble))
            + OPEN_BONUS * u32::from(traits.open);
        let bonuses = cues + KIND_BONUS * focus.extra(&traits);
        let worth = match worth {
            Worth::Fresh { bonus, percent } => Worth::Fresh { bonus: bonus + bonuses, percent },
            worth => worth,
        };
        let words = start..self.words.len();
        let bytes = u32::try_from(line.len()).unwrap_or(u32::MAX);
        self.items.push(Item { words, voice, worth, weight: 0, pull: 0, bytes, wanted });
        true
    }

    /// Numbers the words by concept and weighs the lines, ready for choosing.
    pub(super) fn weighed(mut self) -> Weighed {
        let numbers = self.number_concepts();
        let count = self.items.len() as u64;
        for (item, at) in self.items.iter_mut().zip(0u64..) {
            (item.weight, item.pull) = match item.worth {
                // of equally informative lines the newer stays longer
                Worth::Known(weight) => {
                    let pull = u64::from(weight) * 16 * (AGE_PARTS * count + at) / (AGE_PARTS * count);
                    (weight, u32::try_from(pull).unwrap_or(u32::MAX))
                }
                Worth::Rest { bonus } => (bonus, 16 * bonus),
                Worth::Fresh { bonus, percent } => {
                    let words = &self.words[item.words.clone()];
                    let full = bonus + words.iter().map(|word| word.weight).sum::<u32>();
                    let tells = full >= LEAST_WEIGHT || item.wanted;
                    let scaled = |weight: u32| if tells { weight * percent / 100 } else { 0 };
                    (scaled(full), 16 * scaled(bonus + sum(words)))
                }
            };
        }
        let told = vec![false; numbers.len()];
        Weighed { items: self.items, words: self.words, numbers, told, takes_rest: false }
    }

    /// Replaces each word's concept with a number from 0, adds weight to recurring words, and returns the
    /// concepts by number, ascending.
    fn number_concepts(&mut self) -> Vec<u32> {
        let mut order: Vec<u64> = Vec::with_capacity(self.words.len());
        let keys = self.words.iter().zip(0u64..);
        order.extend(keys.map(|(word, at)| u64::from(word.concept) << 32 | at));
        order.sort_unstable();
        let runs = order.chunk_by(|a, b| a >> 32 == b >> 32);
        let mut concepts = Vec::new();
        for (run, number) in runs.zip(0u32..) {
            let again = u32::try_from(run.len() - 1).map_or(RECURRENCE, |more| more.min(RECURRENCE));
            for entry in run {
                let word = &mut self.words[(entry & u64::from(u32::MAX)) as usize];
                word.concept = number;
                word.weight += if word.weight <= PLAIN { again } else { 0 };
            }
            concepts.extend(run.first().map(|first| (first >> 32) as u32));
        }
        concepts
    }
}

fn sum(words: &[Word]) -> u32 {
    words.iter().map(|word| word.weight.min(MOST_WEIGHT)).sum()
}

/// Lines with their weights.
#[derive(Debug)]
pub(super) struct Weighed {
    items: Vec<Item>,
    words: Vec<Word>,
    /// The concept of each number, ascending.
    numbers: Vec<u32>,
    /// By number: whether a chosen line mentions it.
    told: Vec<bool>,
    takes_rest: bool,
}

/// A line on the heap: the largest gain first; of equals, the earlier line.
type Entry = (u32, Reverse<usize>);

impl Weighed {
    /// The line's own weight, regardless of what else was chosen.
    pub(super) fn weight(&self, line: usize) -> u32 {
        self.items[line].weight
    }

    /// From now on, lines of [`Worth::Rest`] are chosen too.
    pub(super) fn take_rest(&mut self) {
        self.takes_rest = true;
    }

    /// What `text` mentions need not be mentioned again.
    pub(super) fn tell(&mut self, text: &str) {
        scan(text, |word| {
            if let Ok(number) = self.numbers.binary_search(&word.concept) {
                self.told[number] = true;
            }
        });
    }

    /// The line with the most gain for its length.
    pub(super) fn best(&self) -> Option<usize> {
        (0..self.items.len()).max_by(|a, b| match self.gain(*a).cmp(&self.gain(*b)) {
            Ordering::Equal => b.cmp(a),
            unequal => unequal,
        })
    }

    /// Chooses lines of a `voice`, or of all, whose `tokens` add up to at most `budget`; returns them in ascending order. Calls
    /// `tokens` only for a line about to be taken, once per line.
    ///
    /// Always takes the line that adds most for its length. Words already mentioned add nothing, so a
    /// repetition is never taken.
    pub(super) fn choose(
        &mut self,
        voice: Option<Voice>,
        budget: u32,
        mut tokens: impl FnMut(usize, &[usize]) -> u32,
    ) -> Vec<usize> {
        let speaks = |line: &usize| voice.is_none_or(|voice| self.items[*line].voice == voice);
        let lines = (0..self.items.len()).filter(speaks);
        let mut heap: BinaryHeap<Entry> = lines.map(|line| (self.gain(line), Reverse(line))).collect();
        let mut revisions = vec![0u8; self.items.len()];
        let (mut chosen, mut left, mut misses) = (Vec::new(), budget, 0);
        while let Some((_, Reverse(line))) = heap.pop() {
            if left < LEAST_TOKENS || misses == MAX_MISSES {
                break;
            }
            // Lines chosen meanwhile may already say what this line says.
            let gain = self.gain(line);
            if gain == 0 {
                continue;
            }
            let is_behind = heap.peek().is_some_and(|next| *next > (gain, Reverse(line)));
            if is_behind && revisions[line] < MAX_REVISIONS {
                revisions[line] += 1;
                heap.push((gain, Reverse(line)));
                continue;
            }
            let cost = tokens(line, &chosen);
            if cost > left {
                misses += 1;
                continue;
            }
            misses = 0;
            left -= cost;
            chosen.push(line);
            self.words[self.items[line].words.clone()]
                .iter()
                .for_each(|word| self.told[word.concept as usize] = true);
        }
        chosen.sort_unstable();
        chosen
    }

    /// What the line adds to the chosen ones, for its length.
    fn gain(&self, line: usize) -> u32 {
        let item = &self.items[line];
        if matches!(item.worth, Worth::Rest { .. }) && !self.takes_rest {
            return 0;
        }
        let (mut new, mut all) = (0u64, 0u64);
        for word in &self.words[item.words.clone()] {
            let weight = u64::from(word.weight.min(MOST_WEIGHT));
            all += weight;
            new += if self.told[word.concept as usize] { 0 } else { weight };
        }
        let factor = u64::from(if item.wanted { FOCUS_FACTOR } else { 1 });
        let length = u64::from(LINE_TOKENS + item.bytes / TOKEN_BYTES);
        let gain = u64::from(item.pull) * factor * new * 16 / (all.max(1) * length);
        u32::try_from(gain).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(lines: &[&str], focus: &[&str], budget: u32) -> Vec<usize> {
        let focus = Focus::new(&focus.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut pool = Weigher::default();
        for line in lines {
            assert!(pool.add(line, Voice::User, Worth::Fresh { bonus: 0, percent: 100 }, &focus));
        }
        pool.weighed().choose(None, budget, |line, _| lines[line].split(' ').count() as u32)
    }

    #[test]
    fn a_repetition_is_not_taken() {
        let lines = ["The order is AB12.", "the orders is ab12", "Paris is lovely in spring."];
        assert_eq!(chosen(&lines, &[], 100), [0, 2]);
    }

    #[test]
    fn what_fits_is_taken_by_worth_and_given_in_order() {
        let lines = [
            "We walked around for quite some hours.",
            "Invoice INV-77 failed today.",
            "Pay 300 euros tomorrow.",
        ];
        assert_eq!(chosen(&lines, &[], 8), [1, 2]);
        assert_eq!(chosen(&lines, &["walking hours"], 7), [0]);
        assert!(chosen(&lines, &[], 3).is_empty());
    }
}
