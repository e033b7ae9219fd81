//! Finds what a text names: files, addresses, identifiers, amounts, dates, names.

mod kind;
mod names;
mod numbers;
mod shape;
mod tokens;

pub use kind::{Entity, Kind};

use crate::language::Language;
use names::Names;
use tokens::tokens;

/// What a text names, in order, by shape only.
///
/// - The first word of a sentence is part of a name only if the next one has a capital too, and never if it is a
///   function word.
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
    let mut found: Vec<Entity<'_>> = Vec::new();
    let mut end = 0;
    for token in tokens(text) {
        // a date in characters goes on behind its token
        if token.start < end {
            continue;
        }
        match shape::of(text, &token) {
            Some((kind, length)) => {
                found.extend(names.end());
                end = token.start + length;
                found.push(Entity { text: &text[token.start..end], start: token.start, kind });
            }
            None => found.extend(names.word(&token)),
        }
    }
    found.extend(names.end());
    found
}

#[cfg(test)]
mod tests;
