//! Whether a text contains the wanted words.

use std::ops::Range;

use rustc_hash::FxHashSet;
use utterd_text::{Language, stops};

use super::{
    capitals::continues_sentence,
    term::{Term, TermKind},
    terms::{Reader, StopWords},
    words::{each_word, is_joining},
};

/// The words to look for in other texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    text: String,
    /// The names that are ordinary words too, as written.
    names: Vec<String>,
    has_owners: bool,
    has_forms: bool,
}

/// Words that say whose the next word is.
const OWNERS: [&str; 7] = ["my", "your", "his", "her", "its", "our", "their"];
/// How many more words than in the wanted text may stand between an owner and what is owned.
const SLACK: usize = 2;

/// Names, in lower case, that are ordinary words too: the capital letter tells them apart.
const NAMES: &str = include_str!("names.txt");

/// Words after which a capitalised word at the beginning of a sentence is an ordinary one: "Will you".
const AFTER_VERBS: &str = "i you he she it we they me him us them my your his her its our their the a an this that these \
those there";

/// Creates the [`Terms`] of a text.
pub fn terms(text: &str) -> Terms {
    let (mut names, mut has_owners, mut has_forms) = (Vec::new(), false, false);
    each_word(text, |word| {
        let range = word.start..word.end;
        let written = without_owner(&text[range.clone()]);
        let lower = written.to_lowercase();
        if is_one_of(NAMES, &lower) && is_name(text, range) {
            names.push(written.to_owned());
        }
        has_owners |= OWNERS.contains(&&*lower);
        has_forms |= lower.ends_with('s') || lower.ends_with("ing");
    });
    Terms { text: text.to_owned(), names, has_owners, has_forms }
}

impl Terms {
    /// Whether the text has no word at all, such as an empty text or bare punctuation.
    pub fn is_empty(&self) -> bool {
        let mut is_empty = true;
        let mut reader = Reader::default();
        let language = reader.read(&self.text, Language::English);
        reader.each_term(&self.text, language, StopWords::Keep, |_| is_empty = false);
        is_empty
    }

    /// Whether it names something: not all words are stop words of English.
    pub fn has_subject(&self) -> bool {
        let mut has_subject = !self.names.is_empty();
        each_word(&self.text, |word| {
            has_subject |= !is_stop_word(&self.text[word.start..word.end].to_lowercase())
        });
        has_subject
    }
}

/// Whether a text contains every wanted word, in any order and inflection.
///
/// - An identifier is wanted as a whole: a text about creating an order does not contain `create_order`, but
///   a text with `create_order` contains `order`. No text contains it that only has a longer one: `a.lee@x.org` does
///   not contain `lee@x.org` or `x.org`. The name of a file is contained in its path.
/// - Wanted stop words are ignored unless nothing else is wanted; then each of them must occur in the text.
/// - "Training" is no inflection of "trains": plurals and what ends in "ing" differ.
/// - "My", "your" and the like are wanted with the next wanted word: "your salary" does not contain "my
///   salary", but "my net salary" does.
/// - A capitalised name that is an ordinary word too, such as Will or Rose, is wanted as written: "I will"
///   does not contain it.
/// - If nothing is wanted, no text contains it.
pub fn holds_all(text: &str, wanted: &Terms) -> bool {
    let mut reader = Reader::default();
    let language = reader.read(text, Language::English);
    let (mut has, mut words) = (FxHashSet::<String>::default(), Vec::new());
    let (mut whole, mut wanted_whole) = (Vec::new(), Vec::new());
    reader.each_term(text, language, StopWords::Keep, |term| {
        has.insert(term.text.to_owned());
        add_whole(&mut whole, &term, |inner| is_apart(text, inner));
        if wanted.has_owners || wanted.has_forms {
            words.push((term.text.to_owned(), text[term.range].to_lowercase()));
        }
    });
    let (names, has_forms, wanted) = (&wanted.names, wanted.has_forms, &wanted.text);
    let own = reader.read(wanted, Language::English);
    let (first, second) = (said(&mut reader, wanted, own), said(&mut reader, wanted, language));
    let only_stop_words = !first.iter().any(|range| second.contains(range));
    let (mut wants, mut holds, mut owner) = (false, true, None::<(String, usize)>);
    reader.each_term(wanted, language, StopWords::Keep, |term| {
        let is_identifier = matches!(term.kind, TermKind::Whole | TermKind::Joined);
        let is_word = is_identifier || matches!(term.kind, TermKind::Word | TermKind::Pair);
        let is_said = first.contains(&term.range) && second.contains(&term.range);
        let lower = wanted[term.range.clone()].to_lowercase();
        if let Some((_, distance)) = &mut owner {
            *distance += 1;
        }
        if is_word && (only_stop_words || is_said) {
            wants = true;
            if is_identifier {
                add_whole(&mut wanted_whole, &term, |_| false);
            }
            holds &= has.contains(term.text)
                && (!has_forms
                    || words.iter().any(|(one, word)| one == term.text && are_forms(word, &lower)));
            if let Some((owner, distance)) = owner.take() {
                holds &= is_owned(&words, &owner, distance, term.text);
            }
        }
        if OWNERS.contains(&&*lower) {
            owner = Some((lower, 0));
        }
    });
    let whole: FxHashSet<&str> = whole.iter().map(|(whole, _)| &**whole).collect();
    holds &= wanted_whole.iter().all(|(wanted, _)| whole.contains(&**wanted));
    wants && holds && names.iter().all(|name| has_name(text, name))
}

/// Adds a word or identifier. One of several words replaces these, but for those that are names in it.
fn add_whole(
    all: &mut Vec<(String, Range<usize>)>,
    term: &Term<'_>,
    is_name: impl Fn(&Range<usize>) -> bool,
) {
    if !matches!(term.kind, TermKind::Word | TermKind::Whole | TermKind::Joined) {
        return;
    }
    let inner = all.partition_point(|(_, range)| range.start < term.range.start);
    let inner = if term.kind == TermKind::Joined { all.split_off(inner) } else { Vec::new() };
    all.push((term.text.to_owned(), term.range.clone()));
    all.extend(inner.into_iter().filter(|(_, range)| is_name(range)));
}

/// Whether a word in an identifier is a name in it: a file in its path (`a/b.rs:42`), a key with its value (`a=b`).
fn is_apart(text: &str, word: &Range<usize>) -> bool {
    let after = text[word.end..].chars().next();
    let before = text[..word.start].chars().next_back();
    let separates =
        |c: Option<char>| c.is_none_or(|c| matches!(c, ':' | '=' | '#' | '&' | '?') || !is_joining(c));
    separates(after) && (separates(before) || matches!(before, Some('/' | '\\')))
}

/// Whether two words with the same stem can be forms of one word: a plural is no form of what ends in "ing".
fn are_forms(one: &str, other: &str) -> bool {
    let differ = |plural: &str, verb: &str| {
        let singular = plural.strip_suffix('s').filter(|stem| !stem.ends_with('s'));
        singular.is_some_and(|singular| verb.ends_with("ing") && singular != verb)
    };
    !differ(one, other) && !differ(other, one)
}

/// Whether `owner` stands before the `term` in `words`, each a term and its word in lower case, about as near
/// as `distance`.
fn is_owned(words: &[(String, String)], owner: &str, distance: usize, term: &str) -> bool {
    words.iter().enumerate().filter(|(_, (_, word))| word == owner).any(|(at, _)| {
        let mut near = words[at + 1..].iter().take(distance + SLACK);
        let next = near.find(|(one, word)| one == term || OWNERS.contains(&&**word));
        next.is_some_and(|(one, _)| one == term)
    })
}

/// Whether a text contains a name as written.
fn has_name(text: &str, name: &str) -> bool {
    let mut found = false;
    each_word(text, |word| {
        let range = word.start..word.end;
        found |= without_owner(&text[range.clone()]) == name && is_name(text, range);
    });
    found
}

/// A word without "'s".
fn without_owner(word: &str) -> &str {
    ["'s", "’s"].into_iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// Whether a word is capitalised for another reason than that it begins a sentence: "Will you" is a question.
fn is_name(text: &str, word: Range<usize>) -> bool {
    let begins = !continues_sentence(&text[..word.start]);
    let mut next = text[word.end..].split(|c: char| !c.is_alphanumeric()).filter(|next| !next.is_empty());
    let is_verb = begins && next.next().is_some_and(|next| is_one_of(AFTER_VERBS, &next.to_lowercase()));
    text[word].starts_with(char::is_uppercase) && !is_verb
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

fn is_stop_word(word: &str) -> bool {
    stops(word).contains(Language::English)
}

/// The ranges of a text's words other than the stop words of a language.
fn said(reader: &mut Reader, text: &str, language: Language) -> FxHashSet<Range<usize>> {
    let mut ranges = FxHashSet::default();
    reader.each_term(text, language, StopWords::Skip, |term| {
        ranges.insert(term.range);
    });
    ranges
}
