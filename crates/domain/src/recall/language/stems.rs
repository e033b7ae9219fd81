//! The stems of texts that are compared rather than searched.

use super::languages::Language;
use crate::recall::terms::{Reader, StopWords, TermKind};

/// Reads the texts of one talk in order; a text whose language is unclear gets that of the previous one.
pub struct Stems {
    reader: Reader,
    language: Language,
}

impl Default for Stems {
    fn default() -> Self {
        Self { reader: Reader::default(), language: Language::English }
    }
}

impl Stems {
    /// The ISO 639-1 code of the language that most stop words of `text` belong to.
    pub fn language(&mut self, text: &str) -> &'static str {
        self.language = self.reader.read(text, self.language);
        self.language.code()
    }

    /// Calls `found` with the stem of each word of `text`, in order, except for stop words of the language
    /// last returned, and with the pairs of characters in scripts without spaces. Identifiers are passed
    /// whole.
    pub fn each(&mut self, text: &str, mut found: impl FnMut(&str)) {
        self.reader.read(text, self.language);
        self.reader.each_term(text, self.language, StopWords::Skip, |term| {
            if matches!(term.kind, TermKind::Word | TermKind::Whole | TermKind::Pair) {
                found(term.text);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(stems: &mut Stems, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        stems.each(text, |stem| found.push(stem.to_owned()));
        found
    }

    #[test]
    fn words_are_told_by_their_stems_in_the_language_that_was_told_last() {
        let mut reader = Stems::default();
        assert_eq!(reader.language("We are painting the houses."), "en");
        assert_eq!(stems(&mut reader, "painted houses of the"), ["paint", "hous"]);
        assert_eq!(reader.language("Wir haben die Häuser nicht gesehen."), "de");
        assert_eq!(reader.language("Häuser!"), "de");
        assert_eq!(stems(&mut reader, "die Häuser"), stems(&mut reader, "das Haus"));
    }
}
