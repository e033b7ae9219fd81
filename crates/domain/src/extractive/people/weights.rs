//! The weights of words and sentences.

use crate::extractive::{
    people::{
        cues::Cues,
        talk::{Concept, Line, Talk},
    },
    text::marks::asks,
};

/// A talk of two stays on one subject up to this many utterances: what recurs is what it is about.
const ONE_MATTER: f64 = 8.0;
/// Beyond this many, a talk moves from subject to subject: what recurs is what both say about everything.
const MANY_MATTERS: f64 = 24.0;
/// The factor for a sentence that contains a term of the focus.
const FOCUS_FACTOR: f64 = 8.0;
/// Scales a sentence's concepts when sentences of several talks are compared.
const KEPT_WEIGHT: f64 = 20.0;

/// How a kind of talk is weighed. These numbers kept most of what reference summaries contain (meetings,
/// short dialogues) and of what is asked for later (long talks of two); most of them matter little on their
/// own.
pub(super) struct Scale {
    /// The exponent that favours recurring words.
    recurs: f64,
    /// The exponent that favours words in few utterances.
    rare: f64,
    /// The factor for a word that more than one person says.
    shared: f64,
    /// The factor for a word that says little.
    vague: f64,
    /// The factor for a pair of words that recurs.
    pair: f64,
    /// What is left of a word's worth after each mention.
    pub again: f64,
    /// The exponent that penalises length.
    pub length: f64,
    /// A line's cost on top of its words and its name, in tokens.
    pub line: f64,
    /// A sentence that adds less than this fraction of the best one's gain is left out unless it reports a
    /// decision.
    pub least_gain: f64,
    /// Sentences with fewer words are left out.
    least_words: u32,
    first: f64,
    second: f64,
    asked: f64,
    time: f64,
    plan: f64,
    decision: f64,
    name: f64,
    /// For what opens a talk: by relative and by absolute position.
    opening: [f64; 2],
}

impl Scale {
    pub(super) fn of(talk: &Talk) -> Self {
        if talk.speakers.len() > 2 { Self::meeting() } else { Self::of_two(talk.utterances) }
    }

    fn meeting() -> Self {
        Self {
            recurs: 0.7,
            rare: 0.0,
            shared: 1.3,
            vague: 0.3,
            pair: 0.5,
            again: 0.4,
            length: 0.35,
            line: 5.0,
            least_gain: 0.1,
            least_words: 6,
            first: 0.8,
            second: 1.0,
            asked: 1.0,
            time: 1.0,
            plan: 1.0,
            decision: 1.4,
            name: 1.0,
            opening: [0.7, 0.0],
        }
    }

    fn of_two(utterances: usize) -> Self {
        let many = ((utterances as f64 - ONE_MATTER) / (MANY_MATTERS - ONE_MATTER)).clamp(0.0, 1.0);
        Self {
            recurs: 1.0 - 0.6 * many,
            rare: many,
            shared: 1.0,
            vague: 0.05 + 0.1 * many,
            pair: 0.0,
            again: 0.1 + 0.1 * many,
            length: 0.8 - 0.1 * many,
            line: 1.0 + 8.0 * many,
            least_gain: 0.25 - 0.24 * many,
            least_words: 2,
            first: 1.1 + 0.1 * many,
            second: 0.7 - 0.2 * many,
            asked: 0.95 - 0.6 * many,
            time: 1.5 + 0.3 * many,
            plan: 1.1 + 0.1 * many,
            decision: 1.2,
            name: 1.1,
            opening: [0.0, 2.0 - 1.5 * many],
        }
    }

    /// The worth of mentioning a concept.
    pub(super) fn concept(&self, concept: &Concept, utterances: usize) -> f64 {
        let count = f64::from(concept.utterances);
        if concept.pair && concept.utterances < 2 {
            return 0.0;
        }
        let recurs = count.powf(self.recurs) * (1.0 + utterances as f64 / count).ln().powf(self.rare);
        let of = |is: bool, factor: f64| if is { factor } else { 1.0 };
        recurs * of(concept.shared, self.shared) * of(concept.vague, self.vague) * of(concept.pair, self.pair)
    }

    /// The factor of a line, relative to its concepts.
    pub(super) fn line(&self, talk: &Talk, line: usize) -> f64 {
        let of = |is: bool, factor: f64| if is { factor } else { 1.0 };
        let (words, line) = (talk.words(line), &talk.lines[line]);
        if line.words < self.least_words || words.starts_with('[') {
            return 0.0;
        }
        let cues = line.cues;
        self.opening(talk, line)
            * of(cues.has(Cues::FIRST), self.first)
            * of(cues.has(Cues::SECOND), self.second)
            * of(cues.has(Cues::TIME), self.time)
            * of(cues.has(Cues::PLAN), self.plan)
            * of(cues.has(Cues::DECISION), self.decision)
            * of(asks(words), self.asked)
            * of(has_name(words), self.name)
            * of(line.wanted, FOCUS_FACTOR)
    }

    fn opening(&self, talk: &Talk, line: &Line) -> f64 {
        if !talk.opens {
            return 1.0;
        }
        let left = 1.0 - (line.utterance as f64 + 0.5) / talk.utterances as f64;
        1.0 + self.opening[0] * left * left + self.opening[1] / (1.0 + line.utterance as f64)
    }
}

/// Whether a word after the first begins with a capital, as names do.
fn has_name(words: &str) -> bool {
    words.split(' ').skip(1).any(|word| word.len() > 2 && word.starts_with(char::is_uppercase))
}

/// The worth of a line compared with those of other talks.
pub(super) fn kept(talk: &Talk, line: usize, factor: f64) -> u32 {
    let tells = |number: &&u32| {
        let concept = &talk.concepts[**number as usize];
        !concept.pair && !concept.vague
    };
    let count = talk.concepts(line).iter().filter(tells).count();
    (KEPT_WEIGHT * factor * count as f64) as u32
}
