//! What a sentence is for, by the words and phrases that show it.

mod normal;
mod phrases;
mod set;

pub use set::Cues;

use std::borrow::Cow;

use crate::{
    chars::{is_unspaced, is_word},
    language::Votes,
};
use normal::{normal, word_start};
use phrases::{Found, LEAD, MODAL, Meaning, ONLY, Phrases, Tongue};

/// What a sentence is for.
///
/// - Its phrases are those of `cues.tsv`, in the language that most of its words and phrases belong to.
/// - Some count only at the beginning, behind words that can open any sentence (`well`, `so`, `thanks`).
/// - `only` and `always` make a constraint if they restrict something that is asked for or may be done: at the
///   beginning, beside a request, or in one clause with `can`, `may`, `should`. They describe otherwise (`it only fails
///   at night`).
pub fn cues(sentence: &str) -> Cues {
    cues_by(sentence, || Cow::Owned(Votes::of(sentence)))
}

/// The same of a sentence whose languages are known.
pub fn cues_in(sentence: &str, votes: &Votes) -> Cues {
    cues_by(sentence, || Cow::Borrowed(votes))
}

fn cues_by<'v>(sentence: &str, votes: impl FnOnce() -> Cow<'v, Votes>) -> Cues {
    let Some(phrases) = Phrases::shared() else { return Cues::default() };
    let text = normal(sentence);
    let matches = phrases.find(&text);
    if matches.is_empty() {
        return Cues::default();
    }
    let spoken = Spoken::of(sentence, &votes(), phrases, &matches);
    let mut reading = Reading { text: &text, ..Reading::default() };
    for found in &matches {
        let meanings = phrases.meanings(found.phrase);
        reading.see(found, meanings.iter().filter(|meaning| spoken.has(meaning.tongue)));
    }
    reading.done()
}

/// The sentence without what only opens it or frames a request: `so, could you please move the meeting?` is about
/// `move the meeting?`. In scripts without spaces it is the whole sentence.
pub fn matter(sentence: &str) -> &str {
    let Some(phrases) = Phrases::shared() else { return sentence };
    let text = normal(sentence);
    let matches = phrases.find(&text);
    let spoken = Spoken::of(sentence, &Votes::of(sentence), phrases, &matches);
    let frames = |meaning: &Meaning| match meaning.opens {
        true => meaning.cue == LEAD || Cues::OPENING.has(meaning.cue),
        false => meaning.cue == LEAD || meaning.cue == Cues::REQUEST,
    };
    let mut opened = 0;
    for found in matches.iter().filter(|found| text[..found.end].contains(' ')) {
        if found.start < opened {
            continue;
        }
        let meanings = phrases.meanings(found.phrase).iter().filter(|meaning| spoken.has(meaning.tongue));
        if text[opened..found.start].contains(is_word) || !meanings.into_iter().any(frames) {
            break;
        }
        opened = found.end;
    }
    &sentence[word_start(sentence, text[..opened].matches(' ').count())..]
}

/// The languages that a sentence can be in.
struct Spoken {
    counts: Vec<(Tongue, u32)>,
    most: u32,
    has_kana: bool,
}

impl Spoken {
    /// Those with the most function words and phrases in it.
    fn of(sentence: &str, votes: &Votes, phrases: &Phrases, matches: &[Found]) -> Self {
        let mut counts: Vec<(Tongue, u32)> = Vec::new();
        for meaning in matches.iter().flat_map(|found| phrases.tongues(found.phrase)) {
            let (tongue, words) = meaning;
            match counts.iter_mut().find(|(of, _)| *of == tongue) {
                Some((_, count)) => *count += words,
                None => counts.push((tongue, words + tongue.language().map_or(0, |of| votes.count(of)))),
            }
        }
        let most =
            counts.iter().filter(|(tongue, _)| tongue.language().is_some()).map(|(_, count)| *count).max();
        let has_kana = sentence.contains(|c| matches!(c, '\u{3041}'..='\u{30FA}'));
        Self { counts, most: most.unwrap_or(0), has_kana }
    }

    fn has(&self, tongue: Tongue) -> bool {
        match tongue {
            Tongue::Japanese => self.has_kana,
            Tongue::Chinese => !self.has_kana,
            Tongue::Spaced(_) => self.counts.contains(&(tongue, self.most)),
        }
    }
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
    halves: Vec<(u16, usize)>,
}

impl<'a> Reading<'a> {
    fn see<'m>(&mut self, found: &Found, meanings: impl Iterator<Item = &'m Meaning>) {
        self.clause += self.text[self.at..found.start].matches(',').count();
        self.at = found.start;
        let between = &self.text[self.opened.min(found.start)..found.start];
        let opens = found.start >= self.opened && !between.contains(is_word);
        let mut goes_on = false;
        for meaning in meanings.filter(|meaning| opens || !meaning.opens) {
            if meaning.opens && meaning.is_brief && self.text[found.end..].starts_with(is_unspaced) {
                continue;
            }
            goes_on |= opens && (meaning.opens && meaning.cue.has(Cues::OPENING) || meaning.cue == LEAD);
            self.add(found, meaning, opens);
        }
        if goes_on {
            self.opened = found.end;
        }
    }

    fn add(&mut self, found: &Found, meaning: &Meaning, opens: bool) {
        if let Some(half) = meaning.first_half {
            return self.halves.push((half, found.end));
        }
        let is_near = |end: usize| {
            self.text.get(end..found.start).is_some_and(|gap| words(gap) <= 4 && !gap.contains(','))
        };
        let is_whole = |half: u16| self.halves.iter().any(|(first, end)| *first == half && is_near(*end));
        if meaning.second_half.is_some_and(|half| !is_whole(half)) {
            return;
        }
        match meaning.cue {
            ONLY if opens => self.cues |= Cues::CONSTRAINT,
            ONLY => self.restricted.push(self.clause),
            MODAL => self.modals.push(self.clause),
            cue => self.cues |= cue,
        }
    }

    fn done(self) -> Cues {
        let asks = self.cues.has(Cues::REQUEST.or(Cues::CONSTRAINT));
        let restricts = |clause: &usize| asks || self.modals.contains(clause);
        let constraint =
            if self.restricted.iter().any(restricts) { Cues::CONSTRAINT } else { Cues::default() };
        self.cues.or(constraint).public()
    }
}

fn words(gap: &str) -> usize {
    let characters = gap.chars().filter(|c| is_unspaced(*c)).count();
    gap.matches(' ').count() + characters / 2
}

#[cfg(test)]
mod tests;
