//! What people said, as candidate sentences: who says each, and what it is about.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    Role, Sequence, Utterance,
    extractive::{
        Focus,
        day::Day,
        people::{
            cues::{Cues, cues},
            fillers::{Fillers, without_tags},
        },
        text::{clip::fold, split::split},
    },
    recall::Stems,
};

/// The limit for a speaker's name, in bytes.
const SPEAKER_BYTES: usize = 48;
/// A shorter word, in bytes, is not taken as a short form of a name.
const LEAST_NAME_BYTES: usize = 3;
/// A longer word, in bytes, is not a cue.
const CUE_BYTES: usize = 32;

/// The sentences of a talk, in the order said, with their text in one buffer.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub text: String,
    pub lines: Vec<Line>,
    pub speakers: Vec<Speaker>,
    /// The concepts of all lines; those of one line are adjacent.
    pub said: Vec<u32>,
    /// The concepts, by number.
    pub concepts: Vec<Concept>,
    /// The number of utterances.
    pub utterances: usize,
    /// Whether the talk includes the beginning of the conversation.
    pub opens: bool,
    /// The days on which something was said, in order.
    pub days: Vec<Day>,
}

#[derive(Debug)]
pub(super) struct Line {
    pub sequence: Sequence,
    /// The utterance's index, from 0.
    pub utterance: usize,
    /// The day's index in the talk.
    pub day: usize,
    /// The sentence's index in its utterance, from 0.
    pub place: usize,
    pub speaker: usize,
    /// The words' range in the text.
    pub said: Range<usize>,
    /// The range of the line's concepts, each listed once.
    pub concepts: Range<usize>,
    /// The number of words, meaningful or not.
    pub words: u32,
    pub cues: Cues,
    /// Contains a term of the focus.
    pub wanted: bool,
}

/// A stem, or two consecutive ones, which are a name or a term if they recur.
#[derive(Debug, Default)]
pub(super) struct Concept {
    /// How many utterances contain it.
    pub utterances: u32,
    /// More than one speaker said it.
    pub shared: bool,
    /// Consists of two words.
    pub pair: bool,
    /// One of its words says little: "thing".
    pub vague: bool,
    last_utterance: usize,
    last_speaker: usize,
}

#[derive(Debug, Default)]
pub(super) struct Speaker {
    /// The name's range in the text.
    pub name: Range<usize>,
    pub utterances: u32,
    /// Sentences that decide something.
    pub decisions: u32,
}

impl Talk {
    /// Reads everything in `source` said by speakers with names.
    pub(super) fn of(source: &[Arc<Utterance>], focus: &Focus) -> Self {
        let mut talk = Self::default();
        let mut reading = Reading { names: names(source), ..Reading::default() };
        for utterance in source.iter().filter(|utterance| utterance.is_live() && !utterance.instruction) {
            let name = utterance.name().unwrap_or_default().trim();
            let speaker = talk.speaker(utterance.role, name, &mut reading);
            let day = Day::of(utterance.create_time);
            if talk.days.last() != Some(&day) {
                talk.days.push(day);
            }
            talk.add(utterance, speaker, focus, &mut reading);
            talk.opens |= talk.utterances == 0 && utterance.turn <= 1;
            talk.utterances += 1;
        }
        talk
    }

    /// The words of a line.
    pub(super) fn words(&self, line: usize) -> &str {
        &self.text[self.lines[line].said.clone()]
    }

    pub(super) fn name(&self, speaker: usize) -> &str {
        &self.text[self.speakers[speaker].name.clone()]
    }

    /// The concepts of a line.
    pub(super) fn concepts(&self, line: usize) -> &[u32] {
        &self.said[self.lines[line].concepts.clone()]
    }

    /// Whether a line directly follows the previous one in the same utterance.
    pub(super) fn follows(&self, line: usize) -> bool {
        let of = |line: usize| (self.lines[line].utterance, self.lines[line].place);
        line > 0 && of(line) == (of(line - 1).0, of(line - 1).1 + 1)
    }

    fn speaker(&mut self, role: Role, name: &str, reading: &mut Reading) -> usize {
        if let Some(&speaker) = reading.speakers.get(name) {
            return speaker;
        }
        let start = self.text.len();
        // A line must start with a letter.
        if name.starts_with(char::is_alphabetic) {
            fold(name, SPEAKER_BYTES, &mut self.text);
        } else {
            self.text.push_str(if role == Role::Assistant { "Assistant (" } else { "User (" });
            fold(name, SPEAKER_BYTES, &mut self.text);
            self.text.push(')');
        }
        self.speakers.push(Speaker { name: start..self.text.len(), ..Speaker::default() });
        reading.speakers.insert(name.into(), self.speakers.len() - 1);
        self.speakers.len() - 1
    }

    fn add(&mut self, utterance: &Utterance, speaker: usize, focus: &Focus, reading: &mut Reading) {
        reading.open(&utterance.content);
        for (place, sentence) in std::mem::take(&mut reading.sentences).into_iter().enumerate() {
            let start = self.text.len();
            let fillers = Fillers { language: reading.language };
            if !fillers.without(&reading.content[sentence], &mut self.text) {
                self.text.truncate(start);
                continue;
            }
            let said = start..self.text.len();
            let (words, cues) = self.cues(&said, reading);
            let concepts = self.see(said.clone(), speaker, reading);
            let wanted = focus.wants(&self.text[said.clone()]);
            self.speakers[speaker].decisions += u32::from(cues.has(Cues::DECISION));
            let (sequence, utterance) = (utterance.sequence, self.utterances);
            self.lines.push(Line {
                sequence,
                utterance,
                day: self.days.len().saturating_sub(1),
                place,
                speaker,
                said,
                concepts,
                words,
                cues,
                wanted,
            });
        }
        self.speakers[speaker].utterances += 1;
    }

    /// The number of words, and what they show.
    fn cues(&self, said: &Range<usize>, reading: &mut Reading) -> (u32, Cues) {
        let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’');
        let words =
            self.text[said.clone()].split(is_mark).filter(|word| word.contains(char::is_alphanumeric));
        let (mut count, mut found) = (0, Cues::NONE);
        for word in words {
            // Scripts without spaces have about two characters per word.
            count += 1 + word.chars().filter(|c| *c >= '\u{2e80}').count() as u32 / 2;
            if word.len() <= CUE_BYTES {
                reading.lower.clear();
                let straight = |c| if c == '’' { '\'' } else { c };
                reading.lower.extend(word.chars().flat_map(char::to_lowercase).map(straight));
                found = found.and(cues(&reading.lower, reading.language));
            }
        }
        (count, found)
    }

    /// Records what a sentence is about.
    fn see(&mut self, said: Range<usize>, speaker: usize, reading: &mut Reading) -> Range<usize> {
        let start = self.said.len();
        let Reading { stems, numbers, pairs, language, names, .. } = reading;
        let Self { text, said: all, concepts, utterances, .. } = self;
        let mut see = |number: u32, concepts: &mut [Concept]| {
            concepts[number as usize].see(*utterances, speaker);
            if !all[start..].contains(&number) {
                all.push(number);
            }
        };
        let mut before = None;
        stems.each(&text[said], |stem| {
            let vague = *language == "en" && VAGUE.binary_search(&stem).is_ok() || addresses(names, stem);
            let number = numbers.get(stem).copied().unwrap_or_else(|| {
                numbers.insert(stem.into(), concepts.len() as u32);
                new(concepts, vague, false)
            });
            see(number, concepts);
            if let Some((before, was_vague)) = before.replace((number, vague)) {
                let either = vague || was_vague;
                let pair = *pairs.entry((before, number)).or_insert_with(|| new(concepts, either, true));
                see(pair, concepts);
            }
        });
        start..all.len()
    }
}

/// Whether a stem is a speaker's name or a short form of it: "Mel" for Melanie.
fn addresses(names: &[String], stem: &str) -> bool {
    stem.len() >= LEAST_NAME_BYTES && names.iter().any(|name| name.starts_with(stem))
}

fn new(concepts: &mut Vec<Concept>, vague: bool, pair: bool) -> u32 {
    concepts.push(Concept { vague, pair, ..Concept::default() });
    concepts.len() as u32 - 1
}

impl Concept {
    fn see(&mut self, utterance: usize, speaker: usize) {
        if self.utterances == 0 {
            self.last_speaker = speaker;
        }
        self.shared |= self.last_speaker != speaker;
        if self.utterances == 0 || self.last_utterance != utterance {
            self.utterances += 1;
            self.last_utterance = utterance;
        }
    }
}

/// The words of the names of two speakers, in lower case. None for more speakers: then names are often what a
/// sentence is about.
fn names(source: &[Arc<Utterance>]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in source.iter().filter_map(|utterance| utterance.name()) {
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() > 2 {
            return Vec::new();
        }
    }
    names.iter().flat_map(|name| name.split_whitespace()).map(str::to_lowercase).collect()
}

/// The working state of reading, and the current utterance.
#[derive(Default)]
struct Reading {
    stems: Stems,
    speakers: FxHashMap<Box<str>, usize>,
    numbers: FxHashMap<Box<str>, u32>,
    pairs: FxHashMap<(u32, u32), u32>,
    language: &'static str,
    plain: String,
    content: String,
    sentences: Vec<Range<usize>>,
    /// The words of the names of two speakers, in lower case.
    names: Vec<String>,
    lower: String,
}

impl Reading {
    /// Splits an utterance into sentences.
    fn open(&mut self, content: &str) {
        self.plain.clear();
        without_tags(content, &mut self.plain);
        self.content.clear();
        self.sentences = split(&self.plain, &mut self.content);
        self.language = self.stems.language(&self.content);
    }
}

/// English stems that apply to everything, ascending.
const VAGUE: [&str; 105] = [
    "absolut", "actual", "agre", "amaz", "anyth", "appreci", "awesom", "basic", "big", "bit", "btw", "bye",
    "catch", "cheer", "come", "congrat", "cool", "day", "definit", "even", "ever", "everyth", "exact",
    "feel", "find", "fun", "get", "give", "glad", "go", "good", "great", "guess", "guy", "happen", "happi",
    "hear", "hope", "idea", "inspir", "keep", "kind", "know", "let", "like", "littl", "look", "lot", "love",
    "luck", "make", "mayb", "mean", "need", "new", "nice", "okay", "peopl", "perfect", "point", "pretti",
    "probabl", "problem", "put", "read", "realli", "right", "safe", "say", "see", "someth", "soon", "sorri",
    "sort", "sound", "start", "stay", "still", "stuff", "super", "suppos", "sure", "take", "talk", "tell",
    "thank", "thing", "think", "time", "total", "tri", "true", "use", "want", "way", "welcom", "well",
    "will", "wonder", "work", "worri", "wow", "yay", "yes", "yup",
];
