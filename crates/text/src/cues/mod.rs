//! What a sentence is for, by the words and phrases that show it.

mod phrases;
mod set;

pub use set::Cues;

use crate::{
    chars::{is_unspaced, is_word},
    language::Votes,
    normal::Normal,
};
use phrases::{Found, Meaning, spoken};

/// What a sentence is for.
///
/// - Its phrases are those of `cues.tsv`, in the language that most of its words and phrases belong to.
/// - Some count only at the beginning, behind words that can open any sentence (`well`, `so`, `thanks`).
/// - `only` and `always` make a constraint if they restrict something that is asked for or may be done: at the
///   beginning, beside a request, or in one clause with `can`, `may`, `should`. They describe otherwise (`it only fails
///   at night`).
pub fn cues(sentence: &str) -> Cues {
    cues_and_votes(sentence).0
}

/// The same, with the words of the sentence that show its language.
pub fn cues_and_votes(sentence: &str) -> (Cues, Votes) {
    let normal = Normal::of(sentence);
    let votes = Votes::of_normal(&normal);
    let matches = phrases::find(&normal.text);
    if matches.is_empty() {
        return (Cues::default(), votes);
    }
    let spoken = spoken(sentence, &votes, &matches);
    let mut reading = Reading { text: &normal.text, ..Reading::default() };
    for found in &matches {
        reading.see(found, found.shows(&spoken));
    }
    (reading.done(), votes)
}

/// The sentence without what only opens it or frames a request: `so, could you please move the meeting?` is about
/// `move the meeting?`. In scripts without spaces it is the whole sentence.
pub fn matter(sentence: &str) -> &str {
    let normal = Normal::of(sentence);
    let (text, starts) = (&normal.text, &normal.starts);
    let matches = phrases::find(text);
    let spoken = spoken(sentence, &Votes::of_normal(&normal), &matches);
    let frames = |meaning: &Meaning| match meaning.opens {
        true => meaning.cue == Cues::LEAD || Cues::OPENING.has(meaning.cue),
        false => meaning.cue == Cues::LEAD || meaning.cue == Cues::REQUEST,
    };
    let mut opened = 0;
    for found in matches.iter().filter(|found| text[..found.end].contains(' ')) {
        if found.start < opened {
            continue;
        }
        if text[opened..found.start].contains(is_word) || !found.shows(&spoken).any(frames) {
            break;
        }
        opened = found.end;
    }
    let behind = starts.get(text[..opened].matches(' ').count()).copied().unwrap_or(sentence.len());
    &sentence[if opened > 0 { behind } else { 0 }..]
}

/// A sentence as far as it was read.
#[derive(Default)]
struct Reading<'a> {
    text: &'a str,
    cues: Cues,
    /// Up to where the beginning goes.
    opened: usize,
    /// The clause that `at` is in.
    clause: usize,
    at: usize,
    /// The clauses with a modal verb, and with `only`.
    modals: Vec<usize>,
    restricted: Vec<usize>,
    /// The beginnings of phrases with a gap, and where they ended.
    halves: Vec<(usize, usize)>,
}

impl Reading<'_> {
    fn see<'m>(&mut self, found: &Found, meanings: impl Iterator<Item = &'m Meaning>) {
        self.clause += self.text[self.at..found.start].bytes().filter(|byte| *byte == b',').count();
        self.at = found.start;
        let between = &self.text[self.opened.min(found.start)..found.start];
        let opens = found.start >= self.opened && !between.contains(is_word);
        let counts = |meaning: &&Meaning| !meaning.opens || opens;
        let mut goes_on = false;
        for meaning in meanings.filter(counts) {
            goes_on |=
                opens && (meaning.opens && meaning.cue.has(Cues::OPENING) || meaning.cue == Cues::LEAD);
            self.add(found, meaning, opens);
        }
        if goes_on {
            self.opened = found.end;
        }
    }

    fn add(&mut self, found: &Found, meaning: &Meaning, opens: bool) {
        let is_near = |end: usize| {
            self.text.get(end..found.start).is_some_and(|gap| words(gap) <= 4 && !gap.contains(','))
        };
        match meaning.half {
            Some((row, false)) => return self.halves.push((row, found.end)),
            Some((row, true)) if !self.halves.iter().any(|(first, end)| *first == row && is_near(*end)) => {
                return;
            }
            _ => {}
        }
        match meaning.cue {
            Cues::ONLY if opens => self.cues |= Cues::CONSTRAINT,
            Cues::ONLY => self.restricted.push(self.clause),
            Cues::MODAL => self.modals.push(self.clause),
            // "no, it is Friday, not Monday", but not "no, not today"
            Cues::CONTRAST if self.clause < 2 || !self.begins_clause(found.start) => {}
            cue => self.cues |= cue,
        }
    }

    /// Whether a clause begins here; in scripts without spaces, it need not.
    fn begins_clause(&self, at: usize) -> bool {
        self.text[..at].ends_with(',') || self.text[at..].starts_with(is_unspaced)
    }

    fn done(self) -> Cues {
        let asks = self.cues.has(Cues::REQUEST.or(Cues::CONSTRAINT));
        let is_bound = self.restricted.iter().any(|clause| asks || self.modals.contains(clause));
        let corrects = self.cues.has(Cues::DENIES) && self.cues.has(Cues::CONTRAST);
        let with = |is: bool, cue| if is { cue } else { Cues::default() };
        self.cues.or(with(is_bound, Cues::CONSTRAINT)).or(with(corrects, Cues::CORRECTION))
    }
}

fn words(gap: &str) -> usize {
    let characters = gap.chars().filter(|c| is_unspaced(*c)).count();
    gap.matches(' ').count() + characters / 2
}

#[cfg(test)]
mod tests;
