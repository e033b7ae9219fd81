//! Names: words with capitals.

use std::{cell::OnceCell, ops::Range, sync::LazyLock};

use regex_automata::{Anchored, Input, meta::Regex};

use super::kind::{Entity, Kind};
use crate::{
    chars::{is_unspaced, span},
    cues::{Cues, cues},
    language::{Language, is_stop},
    sentences::abbreviates,
};

/// No name has more words; what has is a headline.
const WORDS: usize = 5;

/// Words of two letters or more that begin with a capital, with initials and titles before them and small words between. What
/// is read before a word is bounded, so that each capital of `A. A. A.` costs the same.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"(?:(?:[\p{Lu}--[I]]|Dr|Mr|Mrs|Ms|Prof|Sr|Sra|St)\. ){0,4}\p{Lu}[\pL\pM'’-]+";
    Regex::new(&format!("{word}(?: (?:(?:al|bin|da|de|del|della|der|di|dos|du|ibn|la|le|of|van) )*{word})*"))
        .ok()
});

/// Finds the names of a text.
pub(super) struct Names<'a> {
    text: &'a str,
    language: OnceCell<Language>,
}

impl<'a> Names<'a> {
    /// The names of a text in `language`, or in what the text shows.
    pub(super) fn new(text: &'a str, language: Option<Language>) -> Self {
        Self { text, language: language.map(OnceCell::from).unwrap_or_default() }
    }

    /// Adds the names between two places.
    pub(super) fn read(&self, between: Range<usize>, found: &mut Vec<Entity<'a>>) {
        let Some(name) = &*NAME else { return };
        let Range { start: mut at, end } = between;
        loop {
            at += span(&self.text[at..end], |c| !c.is_uppercase());
            if at == end {
                return;
            }
            // within a word, as in data, a capital begins no name
            let begins = !self.text[..at].ends_with(|c: char| c.is_alphanumeric() && !is_unspaced(c));
            let here = begins.then(|| Input::new(self.text).span(at..end).anchored(Anchored::Yes));
            let words = here.and_then(|here| name.find(here));
            at = match words {
                Some(words) => words.end(),
                None => at + self.text[at..].chars().next().map_or(1, char::len_utf8),
            };
            let named = words.and_then(|words| self.name(words.range()));
            found.extend(named.map(|name| Entity {
                text: &self.text[name.clone()],
                start: name.start,
                kind: Kind::Name,
            }));
        }
    }

    /// The name among words with capitals: the first word of a sentence has one in any case.
    fn name(&self, words: Range<usize>) -> Option<Range<usize>> {
        let said = self.text[words.clone()].trim_end_matches(['\'', '’', '-']);
        let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
        let opens = opens_sentence(self.text, words.start);
        let skips =
            opens && (rest.is_empty() || self.is_function_word(first) || cues(first).has(Cues::REQUEST));
        let name = if skips { rest } else { said };
        let is_noun = || self.language() == Language::German && name.chars().skip(1).any(char::is_lowercase);
        let is_name = match name.split(' ').count() {
            1 => !name.is_empty() && !is_noun() && !self.is_function_word(name),
            words => words <= WORDS,
        };
        let start = words.start + said.len() - name.len();
        is_name.then_some(start..start + name.len())
    }

    fn language(&self) -> Language {
        *self.language.get_or_init(|| Language::of(self.text, Language::English))
    }

    fn is_function_word(&self, word: &str) -> bool {
        word.len() < 16 && is_stop(&word.to_lowercase().replace('’', "'"), self.language())
    }
}

/// Whether a word begins a sentence, a line or a quotation.
fn opens_sentence(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let lead = before.rsplit(char::is_alphanumeric).next().unwrap_or_default();
    let parts =
        |c| matches!(c, '!' | '?' | ':' | '\n' | '"' | '“' | '„' | '«' | '…' | '*' | '|' | '>' | '#' | '。');
    let is_short = || lead == ". " && abbreviates(&before[..start - lead.len()], &text[start..]);
    lead.len() == before.len() || lead.contains(parts) || lead.contains('.') && !is_short()
}
