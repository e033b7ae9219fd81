//! Finds terms similar to a word: for words that no utterance has, and for compounds.

use rustc_hash::FxHashSet;

use super::{block::IndexBlock, index::Index, language::languages::Language};

/// The share of common trigrams from which two words are similar.
const LEAST: f32 = 0.4;
/// The factor for a word with a different first letter: people rarely mistype the first.
const ELSEWHERE: f32 = 0.7;
/// The similarity of a compound to one of its words, and of an inflection to its stem.
const COMPOUND: f32 = 0.6;
/// The most characters of an inflection that a stemmer left.
const INFLECTION_CHARS: usize = 2;
/// The fewest characters of a word in a compound.
const COMPOUND_CHARS: usize = 4;
/// The most similar terms for a word.
const MOST: usize = 4;

/// The terms most similar to a word that no utterance has (because of a typing error, an inflection or a
/// compound), with their similarity by common trigrams.
pub(super) fn similar(wanted: &str, indexes: &[Index]) -> Vec<(String, f32)> {
    if wanted.chars().count() < COMPOUND_CHARS {
        return Vec::new();
    }
    let own = trigrams(wanted);
    best(candidates(&own[1..own.len() - 1], indexes), |term| {
        let theirs = trigrams(term);
        let shared = own.iter().filter(|one| theirs.contains(one)).count();
        let share = 2.0 * shared as f32 / (own.len() + theirs.len()) as f32;
        let begins_alike = wanted.chars().next() == term.chars().next();
        let share = if begins_alike { share } else { share * ELSEWHERE };
        let is_part = is_compound(wanted, term) || is_compound(term, wanted);
        share.max(if is_part { COMPOUND } else { 0.0 })
    })
}

/// The longer forms of a word: inflections that a stemmer left and, in languages that write compounds as one
/// word, terms that begin or end with it.
pub(super) fn longer(wanted: &str, blocks: &[&IndexBlock]) -> Vec<(String, f32)> {
    if wanted.chars().count() < COMPOUND_CHARS {
        return Vec::new();
    }
    let mut found = FxHashSet::default();
    for block in blocks {
        let compounds = block.languages.iter().any(Language::compounds);
        let mut terms = FxHashSet::default();
        holding(block, wanted, &mut terms);
        terms.retain(|term| is_inflection(term, wanted) || (compounds && is_compound(term, wanted)));
        found.extend(terms);
    }
    found.into_iter().map(|term| (term.to_owned(), COMPOUND)).collect()
}

fn is_inflection(long: &str, stem: &str) -> bool {
    long.strip_prefix(stem).is_some_and(|ending| (1..=INFLECTION_CHARS).contains(&ending.chars().count()))
}

fn is_compound(long: &str, part: &str) -> bool {
    part.chars().count() >= COMPOUND_CHARS
        && long.len() >= part.len() + 3
        && (long.ends_with(part) || long.starts_with(part))
}

fn best(terms: FxHashSet<&str>, similarity: impl Fn(&str) -> f32) -> Vec<(String, f32)> {
    let alike = terms.into_iter().map(|term| (term.to_owned(), similarity(term)));
    let mut alike: Vec<_> = alike.filter(|(_, similarity)| *similarity >= LEAST).collect();
    alike.sort_by(|(one, near), (other, far)| far.total_cmp(near).then_with(|| one.cmp(other)));
    alike.truncate(MOST);
    alike
}

/// The trigrams of a word, with a space at either end.
fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = [' '].into_iter().chain(word.chars()).chain([' ']).collect();
    chars.windows(3).map(String::from_iter).collect()
}

/// The terms that contain one of the trigrams.
fn candidates<'a>(inner: &[String], indexes: &'a [Index]) -> FxHashSet<&'a str> {
    let mut found = FxHashSet::default();
    for block in indexes.iter().flat_map(|index| index.blocks()) {
        for trigram in inner {
            holding(block, trigram, &mut found);
        }
    }
    found
}

fn holding<'a>(block: &'a IndexBlock, part: &str, found: &mut FxHashSet<&'a str>) {
    let dictionary = &block.dictionary;
    for at in memchr::memmem::find_iter(dictionary.text().as_bytes(), part.as_bytes()) {
        let term = dictionary.get(dictionary.at(at));
        if term.contains(part) {
            found.insert(term);
        }
    }
}
