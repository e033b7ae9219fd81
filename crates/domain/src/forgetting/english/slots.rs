//! Filling the slots of the table.

use jiff::{
    civil::{Date, Time},
    fmt::strtime,
};

use crate::{
    forgetting::{
        Criterion, canonical,
        table::{GRAMMAR, Rule},
        time,
    },
    recall::terms,
};

use super::words::Words;

/// The most words in a name without quotes.
const MAX_NAME_WORDS: usize = 4;
/// The most slots within slots, which bounds the numbers of a list and the filters of a noun.
const DEEPEST: usize = 100;
/// The ways to write a time of day, with the words that they take.
const CLOCKS: [(usize, &str); 5] = [(2, "%I %p"), (2, "%I:%M %p"), (1, "%I%p"), (1, "%I:%M%p"), (1, "%H:%M")];

impl Words<'_> {
    /// Consumes a phrase of a kind; returns its meaning.
    pub fn fill(&mut self, kind: &str) -> Option<String> {
        if let Some(found) = self.attempt(|words| words.read(kind)) {
            return Some(found);
        }
        let mut rules = GRAMMAR.rules.get(kind).filter(|_| self.depth < DEEPEST)?.iter();
        self.depth += 1;
        let found = rules.find_map(|rule| self.attempt(|words| words.follow(kind, rule)));
        self.depth -= 1;
        found
    }

    /// Consumes what a rule says.
    pub fn follow(&mut self, kind: &str, rule: &Rule) -> Option<String> {
        let (elements, meaning) = match rule {
            Rule::Slots(elements, meaning) => (elements, *meaning),
            Rule::Words => {
                let sense = self.sense(kind)?;
                self.at += sense.length;
                return Some(sense.meaning.to_owned());
            }
        };
        let start = self.at;
        let filled = self.fill_all(elements)?;
        match meaning.strip_prefix('!') {
            None => Some(render(meaning, &filled)),
            Some(refusal) => {
                let (why, forms) = refusal.split_once('!').unwrap_or((refusal, ""));
                let forms =
                    forms.split('!').filter(|form| !form.is_empty()).map(|form| render(form, &filled));
                self.refuse(start, self.at, why, forms);
                None
            }
        }
    }

    /// Consumes the words and slots of a rule; returns the slots and their meanings.
    fn fill_all(&mut self, elements: &[&'static str]) -> Option<Vec<(&'static str, String)>> {
        let mut filled = Vec::new();
        for element in elements {
            let Some(slot) = element.strip_prefix('{') else {
                self.peek().filter(|token| token.lower == *element)?;
                self.at += 1;
                continue;
            };
            let optional = slot.strip_suffix("?}");
            let slot = optional.unwrap_or(slot.trim_end_matches('}'));
            filled.push((slot, self.fill(slot).or_else(|| optional.map(|_| String::new()))?));
        }
        Some(filled)
    }

    /// Consumes what a slot takes that no phrase of the table does.
    fn read(&mut self, kind: &str) -> Option<String> {
        let token = self.peek()?;
        let (text, unknown) = (token.text.to_owned(), token.is_unknown());
        let one = |fits: bool| fits.then(|| canonical::value(&text).to_string());
        let word = match kind {
            "name" => return self.name(),
            "time" => return self.time_of_day(),
            "topic" | "both" | "single" => return self.topic(kind),
            "quoted" => return if token.quoted { self.topic("topic") } else { None },
            "identifier" => one(token.is_identifier()),
            "word" => one(unknown && terms(&text).has_subject()),
            "n" => Some(text).filter(|text| text.parse().is_ok_and(|number: u64| number > 0)),
            "figures" => Some(text.trim_start_matches('#').to_owned()).filter(|text| is_figures(text)),
            "year" => Some(text).filter(|text| text.len() == 4 && text.parse::<u16>().is_ok()),
            "iso" => Some(text).filter(|text| text.len() == 10 && text.parse::<Date>().is_ok()),
            "stamp" => Some(text).filter(|text| text.contains(['T', 't']) && time::read(text).is_some()),
            _ => None,
        }?;
        self.at += 1;
        Some(word)
    }

    /// Consumes a name: a text in quotes, an identifier, or capitalised words.
    pub fn name(&mut self) -> Option<String> {
        let left = &self.tokens[self.at..self.end];
        let quoted = left.first().is_some_and(|token| token.quoted && !token.text.trim().is_empty());
        let words = || left.iter().take(MAX_NAME_WORDS + 1).take_while(|token| self.is_name(token)).count();
        let length = if quoted { 1 } else { words() };
        let name: Vec<_> = left[..length].iter().map(|token| token.text).collect();
        self.at += length;
        (1..=MAX_NAME_WORDS).contains(&length).then(|| canonical::value(&name.join(" ")).to_string())
    }

    /// Consumes "10 am", "5:30pm", "17:30".
    fn time_of_day(&mut self) -> Option<String> {
        let read = |&(length, form): &(usize, &str)| {
            let end = self.at + length;
            let text = if end <= self.end { self.slice(self.at, end) } else { "" };
            Some((length, clock(form, text)?))
        };
        let (length, time) = CLOCKS.iter().find_map(read)?;
        self.at += length;
        Some(format!("{}:{:02}", time.hour(), time.minute()))
    }

    /// The short forms that what is left might stand for: a topic, or the name of a speaker.
    pub fn alone(&mut self) -> Vec<String> {
        let start = self.at;
        let Some(topic) = self.texts(start, self.end, "topic") else { return Vec::new() };
        let name = self.name().filter(|_| self.done()).map(|_| self.slice(start, self.end).to_owned());
        let forms = [Criterion::About(topic)].into_iter().chain(name.map(Criterion::Name));
        forms.map(|form| form.to_string()).collect()
    }
}

/// Whether a word is a time of day.
pub(super) fn is_clock(word: &str) -> bool {
    CLOCKS.iter().any(|(length, form)| *length == 1 && clock(form, word).is_some())
}

fn clock(form: &str, text: &str) -> Option<Time> {
    strtime::parse(form, text).ok()?.to_time().ok()
}

/// Whether a text is numbers as in the short forms, with an end: `4`, `3-7`, `2,4`.
fn is_figures(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit()) && canonical::numbers(text).is_ok()
}

/// A meaning with its slots filled.
fn render(meaning: &str, filled: &[(&str, String)]) -> String {
    let value = |slot: &str| {
        let of = |name: &str| filled.iter().find(|(slot, _)| *slot == name).map(|(_, value)| value.clone());
        let number = |name: &str| of(name).and_then(|number| number.parse::<u64>().ok());
        match (slot.strip_suffix("+1"), slot.strip_suffix("-1")) {
            (Some(name), _) => number(name).map(|number| number.saturating_add(1).to_string()),
            (_, Some(name)) => number(name).map(|number| (number - 1).to_string()),
            _ => of(slot),
        }
        .unwrap_or_default()
    };
    let mut pieces = meaning.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (slot, rest) in pieces.filter_map(|piece| piece.split_once('}')) {
        text += &value(slot);
        text += rest;
    }
    text
}
