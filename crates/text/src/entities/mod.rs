//! Finds what a text names: files, addresses, identifiers, amounts, dates, names.

mod kind;
mod merge;
mod names;
mod numbers;
mod part;
mod shape;
mod tokens;

pub use kind::{Entity, Kind};

use crate::language::Language;
use merge::merged;
use names::Names;
use tokens::tokens;

/// What a text names, in order, by shape only.
///
/// - The first word of a sentence is part of a name only if the next one has a capital too, and never if it is a
///   function word or asks for something.
/// - In German, where every noun has a capital, a name has two words.
/// - Scripts without capitals have no names.
pub fn entities(text: &str) -> Vec<Entity<'_>> {
    found(text, Names::new(text, None))
}

/// What a text in `language` names.
pub fn entities_in(text: &str, language: Language) -> Vec<Entity<'_>> {
    found(text, Names::new(text, Some(language)))
}

fn found<'a>(text: &'a str, mut names: Names<'a>) -> Vec<Entity<'a>> {
    let mut parts = Vec::new();
    for token in tokens(text) {
        let part = shape::part_of(text, &token);
        match part {
            Some(part) => {
                names.end();
                parts.push(part);
            }
            None => names.word(&token),
        }
    }
    let names = names.done();
    if !names.is_empty() {
        parts.extend(names);
        parts.sort_by_key(|part| part.start);
    }
    let found = merged(text, &parts);
    found.map(|(kind, start, end)| Entity { text: &text[start..end], start, kind }).collect()
}

#[cfg(test)]
mod tests;
