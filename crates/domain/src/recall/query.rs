//! What a prompt asks for.

use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use utterd_text::{Cues, End, Language, Languages, Sentence, base_form, cues, matter, sentences};

use super::{
    phrasing::share,
    stem::{folded, lower_case, stem_of},
    term::TermKind,
    terms::{Reader, StopWords},
    times::{Times, times},
    wanted::Wanted,
    weights::{ASKED, OWN},
};
use crate::Role;

/// What a prompt asks for.
#[derive(Clone, Debug)]
pub struct Query {
    /// With blanks for courtesies.
    prompt: String,
    now: u32,
}

impl Query {
    /// Creates a query from a prompt.
    pub fn new(prompt: &str) -> Self {
        Self { prompt: without_courtesies(prompt), now: 0 }
    }

    /// Sets the minute since 1970 in which it is asked, to which `yesterday` is relative.
    pub fn at(self, minute: u32) -> Self {
        Self { now: minute, ..self }
    }

    /// The role whose words the prompt asks for, and how much more these count.
    ///
    /// If the speakers have no names (`is_named`), a prompt that speaks of oneself asks for what users said, unless it
    /// asks what the assistant said, or for a summary.
    pub(super) fn role(&self, is_named: bool) -> Option<(Role, f32)> {
        let lower = self.prompt.to_lowercase();
        let words: Vec<&str> = words_of(&lower).collect();
        let asked = asked_role(&words);
        let is_own = !is_named && asked != Some(Role::Assistant) && speaks_of_oneself(&words);
        if is_own { Some((Role::User, OWN)) } else { asked.map(|role| (role, ASKED)) }
    }

    /// Whether the prompt asks what several people discussed, or for a summary: it names a topic by words that few
    /// of them said.
    pub(super) fn asks_for_a_topic(&self) -> bool {
        let begins = |word: &str, start: &str| {
            word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        };
        let is_one = |word| TOPICS.iter().chain(&SUMMARIES).any(|start| begins(word, start));
        words_of(&self.prompt).any(is_one)
    }

    /// The present, in minutes since 1970.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// The times that the prompt names, and their ranges.
    pub(super) fn times(&self) -> Times {
        times(&self.prompt, self.now)
    }

    /// The prompt.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The distinct terms of the prompt, for indexes in `languages`. A prompt of only stop words yields
    /// these.
    pub(super) fn wanted(&self, languages: Languages) -> Vec<Wanted> {
        let mut reader = Reader::default();
        let before = languages.iter().next().unwrap_or(Language::English);
        let own = reader.read(&self.prompt, before);
        let mut wanted = Vec::new();
        self.collect(&mut reader, own, StopWords::Skip, &mut wanted);
        if wanted.is_empty() {
            self.collect(&mut reader, own, StopWords::Keep, &mut wanted);
            wanted.iter_mut().for_each(add_name);
        }
        for other in languages.iter().filter(|other| *other != own) {
            self.add_alternatives(&mut reader, other, &mut wanted);
        }
        wanted
            .iter_mut()
            .filter(|wanted| wanted.kind == TermKind::Word && !wanted.is_name())
            .for_each(|wanted| add_unaccented(wanted, own));
        wanted.iter_mut().for_each(|one| one.share = share(one, own, &self.prompt));
        add_joined(&mut wanted, own);
        wanted.iter_mut().for_each(add_amounts);
        wanted
    }

    /// The ranges of the prompt that tell what it asks: its questions or, without any, all sentences; each without the
    /// words that only open it.
    pub(super) fn asked(&self) -> Vec<Range<usize>> {
        let sentences = sentences(&self.prompt);
        let asks = sentences.iter().any(|one| one.ends == End::Question);
        let is_asked = |one: &&Sentence<'_>| !asks || one.ends == End::Question;
        let asked = |one: &Sentence<'_>| {
            let end = one.start + one.text.len();
            end - matter(one.text).len()..end
        };
        sentences.iter().filter(is_asked).map(asked).collect()
    }

    fn collect(&self, reader: &mut Reader, own: Language, stop_words: StopWords, wanted: &mut Vec<Wanted>) {
        let mut places = FxHashMap::default();
        let (mut whole, mut word) = (0, String::new());
        reader.each_term(&self.prompt, own, stop_words, |term| {
            let is_part = matches!(term.kind, TermKind::Part | TermKind::Phone);
            let begins = term.range.start;
            if term.kind == TermKind::Phone && is_telephone(&self.prompt, &term.range, wanted.get(whole)) {
                return wanted[whole].alternatives.push(term.text.to_owned());
            }
            let place = *places.entry(term.text.to_owned()).or_insert(wanted.len());
            if place == wanted.len() {
                let written = &self.prompt[term.range.clone()];
                lower_case(written, &mut word);
                wanted.push(Wanted {
                    alternatives: SmallVec::from_iter([term.text.to_owned()]),
                    written: written.to_owned(),
                    word: word.clone(),
                    range: term.range,
                    kind: if is_part { TermKind::Part } else { term.kind },
                    whole: is_part.then_some(whole).filter(|_| !wanted.is_empty()),
                    share: 1.0,
                });
            } else if !is_part {
                wanted[place].whole = None;
            }
            if term.kind == TermKind::Joined {
                let inner =
                    wanted.iter_mut().enumerate().rev().take_while(|(_, one)| one.range.start >= begins);
                let inner = inner.filter(|(at, one)| *at != place && one.whole.is_none());
                inner.for_each(|(_, one)| one.whole = Some(place));
            }
            if !is_part {
                whole = place;
            }
        });
    }

    /// Adds the forms that the words of `wanted` have in another language.
    fn add_alternatives(&self, reader: &mut Reader, other: Language, wanted: &mut [Wanted]) {
        let words = wanted.iter().enumerate().filter(|(_, wanted)| wanted.kind == TermKind::Word);
        let places: FxHashMap<Range<usize>, usize> =
            words.map(|(place, wanted)| (wanted.range.clone(), place)).collect();
        reader.each_term(&self.prompt, other, StopWords::Keep, |term| {
            if let (TermKind::Word, Some(&place)) = (term.kind, places.get(&term.range))
                && !wanted[place].is_name()
            {
                let alternatives = &mut wanted[place].alternatives;
                if !alternatives.iter().any(|known| known == term.text) {
                    alternatives.push(term.text.to_owned());
                }
            }
        });
    }
}

/// Lets neighbouring words match what is written as one: `data base`, `max retry count`.
fn add_joined(wanted: &mut [Wanted], language: Language) {
    let is_word = |one: &Wanted| one.kind == TermKind::Word && one.written.chars().count() > 2;
    let follows = |pair: &[Wanted]| pair[0].range.end + 1 == pair[1].range.start;
    for count in 2..=MAX_JOINED {
        for first in 0..wanted.len().saturating_sub(count - 1) {
            let words = &mut wanted[first..first + count];
            if words.iter().all(is_word) && words.windows(2).all(follows) {
                let joined: String = words.iter().map(|one| one.word.as_str()).collect();
                let joined = stem_of(&joined, language);
                words.iter_mut().for_each(|one| one.alternatives.push(joined.clone()));
            }
        }
    }
}

/// Lets an amount match one written with more zeros at its end, or with fewer: `1249.5` and `1249.50`. What has a short
/// number before its point may be a version, where zeros count.
fn add_amounts(wanted: &mut Wanted) {
    let amount = &wanted.alternatives[0];
    let Some((whole, fraction)) = amount.split_once('.') else { return };
    let is_amount = whole.len() >= AMOUNT_DIGITS && !fraction.is_empty() && fraction.len() <= CENTS_DIGITS;
    if is_amount && amount.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let least = amount.trim_end_matches('0').trim_end_matches('.').to_owned();
        let most = format!("{whole}.{fraction:0<CENTS_DIGITS$}");
        wanted.alternatives.extend([least, most]);
    }
}

/// The fewest digits before the point of an amount, and the most behind it.
const AMOUNT_DIGITS: usize = 3;
const CENTS_DIGITS: usize = 2;

/// The most words that are sought as one too.
const MAX_JOINED: usize = 3;

/// Whether a number, which may be `whole`, is grouped or written like one of a telephone: its beginning depends on where
/// one calls from.
fn is_telephone(prompt: &str, number: &Range<usize>, whole: Option<&Wanted>) -> bool {
    let is_whole = whole.is_some_and(|whole| whole.range == *number);
    is_whole
        && (prompt[number.clone()].contains(['-', ' ', '.', '(']) || prompt[number.clone()].starts_with('0'))
}

/// A prompt with blanks for its greetings, thanks and regards, unless it has nothing else.
fn without_courtesies(prompt: &str) -> String {
    let sentences = sentences(prompt);
    let is_outer = |place: usize| place < COURTESIES || place + COURTESIES >= sentences.len();
    let is_courtesy = |(place, one): &(usize, &Sentence<'_>)| {
        let is_kind = |cues: Cues| cues.has(Cues::COURTESY) && !cues.has(Cues::REQUEST);
        is_outer(*place) && one.ends != End::Question && is_kind(cues(one.text))
    };
    let mut rest = prompt.to_owned();
    if sentences.len() > 1 {
        for (_, one) in sentences.iter().enumerate().filter(is_courtesy) {
            let blank = " ".repeat(one.text.len());
            rest.replace_range(one.start..one.start + one.text.len(), &blank);
        }
    }
    if rest.contains(char::is_alphanumeric) { rest } else { prompt.to_owned() }
}

/// Courtesies are among so many of the first and last sentences.
const COURTESIES: usize = 4;

/// Lets a stop word that begins with a capital match the name: `Them`.
fn add_name(wanted: &mut Wanted) {
    if wanted.written.len() > 1 && wanted.written.starts_with(|c: char| c.is_ascii_uppercase()) {
        wanted.alternatives.push(wanted.written.to_ascii_uppercase());
    }
}

/// Adds the stem of a word without its accents or, for a word without accents, the word itself: a stemmer
/// treats accents as different endings.
fn add_unaccented(wanted: &mut Wanted, language: Language) {
    let plain = folded(&wanted.word);
    let other = match plain == wanted.word {
        true if language == Language::English => return,
        true => plain.into_owned(),
        false => stem_of(&plain, language),
    };
    if !wanted.alternatives.contains(&other) {
        wanted.alternatives.push(other);
    }
}

/// The role whose words an English prompt asks for: the user's for `did I` and `what I told`, the assistant's
/// for `you said`.
fn asked_role(words: &[&str]) -> Option<Role> {
    let says = |who: &str| {
        words.windows(2).any(|pair| {
            (pair[1] == who && matches!(pair[0], "did" | "have" | "had"))
                || (pair[0] == who && (is_past(pair[1]) || matches!(pair[1], "ve" | "had" | "did")))
        })
    };
    match (says("i"), says("you")) {
        (true, false) => Some(Role::User),
        (false, true) => Some(Role::Assistant),
        _ => None,
    }
}

fn words_of(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether an English prompt is about the person who asks, and no request for a summary.
fn speaks_of_oneself(words: &[&str]) -> bool {
    let summarizes = |word: &&str| SUMMARIES.iter().any(|start| word.starts_with(start));
    !words.iter().any(summarizes) && words.iter().any(|word| ONESELF.contains(word))
}

/// Words for oneself.
const ONESELF: [&str; 5] = ["i", "my", "me", "mine", "myself"];
/// How words begin that ask for a summary.
const SUMMARIES: [&str; 3] = ["summar", "recap", "overview"];
/// How words begin that ask what several people discussed.
const TOPICS: [&str; 8] =
    ["discuss", "debat", "opinion", "attitude", "group", "conclu", "presentation", "reflect"];

fn is_past(verb: &str) -> bool {
    verb.ends_with("ed") || base_form(verb) != verb
}
