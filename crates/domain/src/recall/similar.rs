//! Finds terms similar to a word, or of its family: for words that no utterance has, and for compounds.

use rustc_hash::FxHashSet;

use utterd_text::{Language, Languages};

use super::{block::IndexBlock, index::Index, stem::stem_of};

/// The share of common trigrams from which two words are similar.
const LEAST: f32 = 0.4;
/// The factor for a word with a different first letter: people rarely mistype the first.
const ELSEWHERE: f32 = 0.7;
/// The share from which two words can differ by typing errors only.
const MISTYPED: f32 = 0.3;
/// A typing error is likely in every so many characters, except for the first of a word: a short word with another
/// letter is another word.
const CHARS_FOR_AN_ERROR: usize = 4;
const FIRST_CHARS: usize = 2;
/// The similarity of a compound to one of its words, and of an inflection to its stem.
const COMPOUND: f32 = 0.6;
/// How much of a word another covers that differs from it by more than typing errors.
const FAR: f32 = 0.3;
/// So many characters at the beginning are alike of one word that was typed in two ways.
const BEGINNING: usize = 5;
/// The fewest characters of an ending, cut by a stemmer, that a typing error can keep it from cutting: with another
/// letter, shorter ones are other words.
const ENDING_CHARS: usize = 4;
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
/// compound), with their similarity; and how much of the word the nearest covers: [`FAR`] if it is likely another word.
pub(super) fn similar(wanted: &str, indexes: &[Index], languages: Languages) -> (Vec<(String, f32)>, f32) {
    let length = wanted.chars().count();
    if length < COMPOUND_CHARS {
        return (Vec::new(), 0.0);
    }
    let is_long = !wanted.is_ascii() || length > COMPOUND_CHARS;
    let own = trigrams(wanted);
    let similarity = |(term, compounds): (&str, bool)| {
        let theirs = trigrams(term);
        let shared = own.iter().filter(|one| theirs.contains(one)).count();
        let shared = 2.0 * shared as f32 / (own.len() + theirs.len()) as f32;
        let alike = wanted.chars().zip(term.chars()).take_while(|(one, other)| one == other).count();
        let factor = if alike > 0 { 1.0 } else { ELSEWHERE };
        let typed = if shared < MISTYPED { 0.0 } else { factor * (1.0 - errors(wanted, term)) };
        let typed =
            if has_mistyped_ending(wanted, term, languages) { 1.0 - 1.0 / length as f32 } else { typed };
        let is_part = compounds && (is_compound(wanted, term) || is_compound(term, wanted))
            || is_long && (is_inflection(term, wanted) || is_prefixed(term, wanted));
        let begins = alike >= BEGINNING && !wanted.starts_with(term) && !term.starts_with(wanted);
        let sure = typed.max(if is_part { COMPOUND } else { 0.0 }).max(if begins { shared } else { 0.0 });
        (sure.max(factor * shared), sure)
    };
    let mut alike: Vec<(&str, (f32, f32))> = candidates(&own[1..own.len() - 1], indexes)
        .into_iter()
        .map(|term| (term.0, similarity(term)))
        .filter(|(_, (similarity, _))| *similarity >= LEAST)
        .collect();
    alike.sort_by(|(one, near), (other, far)| far.0.total_cmp(&near.0).then_with(|| one.cmp(other)));
    alike.truncate(MOST);
    let covers =
        alike.first().map_or(0.0, |(_, (similarity, sure))| if sure < similarity { FAR } else { *sure });
    (alike.into_iter().map(|(term, (similarity, _))| (term.to_owned(), similarity)).collect(), covers)
}

/// How many letters of a word are wrong, missing, superfluous or transposed, as a share of them; 1 if they are more
/// than typing errors.
fn errors(wanted: &str, term: &str) -> f32 {
    let (wanted, term): (Vec<char>, Vec<char>) = (wanted.chars().collect(), term.chars().collect());
    let (shorter, longer) = (wanted.len().min(term.len()), wanted.len().max(term.len()));
    let most = shorter.saturating_sub(FIRST_CHARS) / CHARS_FOR_AN_ERROR;
    if wanted.len().abs_diff(term.len()) > most {
        return 1.0;
    }
    let mut rows =
        [vec![0; term.len() + 1], vec![0; term.len() + 1], (0..=term.len()).collect::<Vec<usize>>()];
    for (at, one) in wanted.iter().enumerate() {
        rows.rotate_left(1);
        rows[2][0] = at + 1;
        for (to, other) in term.iter().enumerate() {
            let changed = rows[1][to] + usize::from(one != other);
            let mut least = changed.min(rows[1][to + 1] + 1).min(rows[2][to] + 1);
            if at > 0 && to > 0 && *one == term[to - 1] && wanted[at - 1] == *other {
                least = least.min(rows[0][to - 1] + 1);
            }
            rows[2][to + 1] = least;
        }
    }
    let errors = rows[2][term.len()];
    if errors <= most { errors as f32 / longer as f32 } else { 1.0 }
}

/// Whether the stemmer of a language would leave `stem` of a word, but for one typing error in its ending: `reservaton`.
fn has_mistyped_ending(word: &str, stem: &str, languages: Languages) -> bool {
    let ending = word.strip_prefix(stem).filter(|ending| ending.is_ascii() && ending.len() >= ENDING_CHARS);
    let Some(ending) = ending.filter(|_| stem.chars().count() >= BEGINNING) else { return false };
    let leaves = |other: &str| languages.iter().any(|one| stem_of(&format!("{stem}{other}"), one) == stem);
    (0..=ending.len()).any(|at| {
        let (before, after) = ending.split_at(at);
        let (one, rest) = after.split_at(after.len().min(1));
        let (next, last) = rest.split_at(rest.len().min(1));
        let mut letters = 'a'..='z';
        leaves(&format!("{before}{rest}"))
            || leaves(&format!("{before}{next}{one}{last}"))
            || letters
                .any(|c| leaves(&format!("{before}{c}{after}")) || leaves(&format!("{before}{c}{rest}")))
    })
}

/// The identifiers that begin with a hash, or that it begins with: people abbreviate those of seven or more characters.
pub(super) fn begun(hash: &str, indexes: &[Index]) -> Vec<(String, f32)> {
    if !is_hash(hash) {
        return Vec::new();
    }
    let mut found = FxHashSet::default();
    for block in indexes.iter().flat_map(|index| index.blocks()) {
        let mut terms = FxHashSet::default();
        holding(block, hash, &mut terms);
        found.extend(terms.into_iter().filter(|term| term.starts_with(hash) && is_mixed(term)));
        let shorter = (HASH_CHARS..hash.len()).map(|end| &hash[..end]).filter(|hash| is_mixed(hash));
        found.extend(shorter.filter(|shorter| block.dictionary.find(shorter).is_some()));
    }
    found.into_iter().map(|term| (term.to_owned(), 1.0)).collect()
}

/// The fewest characters of a hash that people write.
const HASH_CHARS: usize = 7;

fn is_hash(term: &str) -> bool {
    term.len() >= HASH_CHARS
        && term.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !term.bytes().all(is_letter)
}

/// Whether it is a hash with letters: it is no number.
fn is_mixed(term: &str) -> bool {
    is_hash(term) && term.bytes().any(is_letter)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// The stems of the two words that a word is written of, if some utterance has the one, and some the other.
pub(super) fn halves(word: &str, indexes: &[Index]) -> Option<[String; 2]> {
    let lower = word.to_lowercase();
    let inner = COMPOUND_CHARS..=lower.len().saturating_sub(COMPOUND_CHARS);
    let mut cuts = lower.char_indices().map(|(at, _)| at).filter(|at| inner.contains(at));
    let blocks = || indexes.iter().flat_map(|index| index.blocks());
    let known = |half: &str| {
        let stem = stem_of(half, Language::English);
        blocks().any(|block| block.dictionary.find(&stem).is_some()).then_some(stem)
    };
    cuts.find_map(|at| Some([known(&lower[..at])?, known(&lower[at..])?]))
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

/// Whether a word has a prefix, as Hebrew writes its articles and prepositions. Latin letters have other words there.
fn is_prefixed(long: &str, word: &str) -> bool {
    let prefix = long.strip_suffix(word).filter(|_| !word.is_ascii());
    prefix.is_some_and(|prefix| (1..=INFLECTION_CHARS).contains(&prefix.chars().count()))
}

fn is_compound(long: &str, part: &str) -> bool {
    part.chars().count() >= COMPOUND_CHARS
        && long.len() >= part.len() + 3
        && (long.ends_with(part) || long.starts_with(part))
}

/// The trigrams of a word, with a space at either end.
fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = [' '].into_iter().chain(word.chars()).chain([' ']).collect();
    chars.windows(3).map(String::from_iter).collect()
}

/// The terms that contain one of the trigrams, and whether they are of a language with compounds.
fn candidates<'a>(inner: &[String], indexes: &'a [Index]) -> FxHashSet<(&'a str, bool)> {
    let mut found = FxHashSet::default();
    for block in indexes.iter().flat_map(|index| index.blocks()) {
        let mut terms = FxHashSet::default();
        inner.iter().for_each(|trigram| holding(block, trigram, &mut terms));
        let compounds = block.languages.iter().any(Language::compounds);
        found.extend(terms.into_iter().map(|term| (term, compounds)));
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
    fn an_ending_with_a_typing_error_is_the_ending() {
        let english = Languages::from(Language::English);
        let mistyped = |word, stem| has_mistyped_ending(word, stem, english);
        let errors = ["reservaton", "reservatin", "reservaation", "reservatoin"];
        assert_eq!(errors.map(|word| mistyped(word, "reserv")), [true; 4]);
        let other_words =
            [("counter", "count"), ("courtesy", "court"), ("counterpart", "count"), ("portfolio", "port")];
        assert_eq!(other_words.map(|(word, stem)| mistyped(word, stem)), [false; 4]);
    }

    #[test]
    fn short_words_have_no_family() {
        assert_eq!(["party", "policy", "basic", "kind", "bus"].map(relative_of), [const { None }; 5]);
    }
}
