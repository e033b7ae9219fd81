//! `forget.tsv`: the grammar of plain English, split once.

use std::{collections::HashMap, sync::LazyLock};

/// The grammar; its first lines say how it is written.
const TABLE: &str = include_str!("forget.tsv");

/// The most tokens in a phrase without slots.
pub(super) const LONGEST: usize = 5;

pub(super) static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut grammar = Grammar::default();
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.split('\t');
        if let (Some(kind), Some(phrases), Some(meaning)) = (cells.next(), cells.next(), cells.next()) {
            phrases.split('|').for_each(|phrase| grammar.add(kind, phrase, meaning));
        }
    }
    grammar
});

#[derive(Default)]
pub(super) struct Grammar {
    /// What each kind can be, in the order to try.
    pub rules: HashMap<&'static str, Vec<Rule>>,
    /// What each phrase without slots is.
    pub senses: HashMap<&'static str, Vec<Sense>>,
}

pub(super) enum Rule {
    /// The longest phrase without slots.
    Words,
    /// A phrase with slots, and its meaning.
    Slots(Vec<&'static str>, &'static str),
}

/// What a phrase without slots is.
#[derive(Clone, Copy)]
pub(super) struct Sense {
    pub kind: &'static str,
    pub meaning: &'static str,
    /// Tokens of the phrase.
    pub length: usize,
}

impl Grammar {
    fn add(&mut self, kind: &'static str, phrase: &'static str, meaning: &'static str) {
        let elements: Vec<_> = phrase.split(' ').collect();
        let rules = self.rules.entry(kind).or_default();
        if phrase.contains('{') {
            for word in elements.iter().filter(|element| !element.starts_with('{')) {
                self.senses.entry(word).or_default().push(Sense { kind: "", meaning: "", length: 1 });
            }
            rules.push(Rule::Slots(elements, meaning));
            return;
        }
        if !rules.iter().any(|rule| matches!(rule, Rule::Words)) {
            rules.push(Rule::Words);
        }
        let length = elements.len();
        self.senses.entry(phrase).or_default().push(Sense { kind, meaning, length });
    }
}

/// Whether a word turns the meaning of a text that it is in, so that the text is no topic.
pub(super) fn turns(word: &str) -> bool {
    let senses = GRAMMAR.senses.get(word).into_iter().flatten();
    word.ends_with("n't") || senses.into_iter().any(|sense| matches!(sense.kind, "turn-away" | "but"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_can_be_read() {
        let longest = GRAMMAR.senses.values().flatten().map(|sense| sense.length).max();
        assert_eq!(longest, Some(LONGEST));
    }

    #[test]
    fn every_slot_can_be_filled() {
        let read = ["name", "word", "identifier", "quoted", "figures", "iso", "stamp", "year", "time"];
        let read = [&read[..], &["topic", "both", "single"]].concat();
        for (kind, rules) in &GRAMMAR.rules {
            for rule in rules {
                let Rule::Slots(elements, _) = rule else { continue };
                for slot in elements.iter().filter_map(|element| element.strip_prefix('{')) {
                    let slot = slot.trim_end_matches(['?', '}']);
                    assert!(GRAMMAR.rules.contains_key(slot) || read.contains(&slot), "{kind}: {slot}");
                }
            }
        }
    }
}
