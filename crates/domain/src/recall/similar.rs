//! Finds terms similar to a word, or of its family: for words that no utterance has, and for compounds.

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
/// How close two words of one family are.
const RELATED: f32 = 0.9;
/// The fewest letters that two words of one family have in common.
const FAMILY_CHARS: usize = 6;
/// The fewest letters of a verb, and of its noun, that end differently.
const VERB_CHARS: usize = 5;
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

/// The term of the same English family, if some utterance has it.
pub(super) fn related(word: &str, stem: &str, indexes: &[Index]) -> Option<(String, f32)> {
    let relative = relative(word, stem)?;
    let mut blocks = indexes.iter().flat_map(|index| index.blocks());
    let is_said = blocks.any(|block| block.dictionary.find(&relative).is_some());
    is_said.then_some((relative, RELATED))
}

/// The stem that the English stemmer leaves apart: that of `allergic` for `allergies` and the other way round,
/// and that of `decide` for `decision` and the other way round.
///
/// Further endings (`-er`, `-ment`, `-ship`) join more words that have nothing in common than words that have.
fn relative(word: &str, stem: &str) -> Option<String> {
    let is_long = |part: &str, least: usize| part.len() >= least;
    if let Some(root) = stem.strip_suffix('i') {
        return is_long(root, FAMILY_CHARS).then(|| root.to_owned());
    }
    let changed = stem.strip_suffix('s').map(|root| format!("{root}d"));
    let changed = changed.or_else(|| stem.strip_suffix('d').map(|root| format!("{root}s")));
    if changed.is_some() {
        return changed.filter(|_| is_long(stem, VERB_CHARS));
    }
    let is_adjective = ["ic", "ics", "ical", "ically", "ous"].iter().any(|ending| word.ends_with(ending));
    (is_adjective && is_long(stem, FAMILY_CHARS)).then(|| format!("{stem}i"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::terms::stem_of;

    fn relative_of(word: &str) -> Option<String> {
        relative(word, &stem_of(word, Language::English))
    }

    #[test]
    fn a_family_has_the_stems_of_both_its_words() {
        let families = [("allergies", "allergic"), ("strategy", "strategic"), ("decide", "decision")];
        for (one, other) in families {
            let stem = |word| Some(stem_of(word, Language::English));
            assert_eq!((relative_of(one), relative_of(other)), (stem(other), stem(one)));
        }
    }

    #[test]
    fn short_words_have_no_family() {
        assert_eq!(["party", "policy", "basic", "kind", "bus"].map(relative_of), [const { None }; 5]);
    }
}
