//! The languages with stemmers.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

use super::irregular::base_form;

/// Defines the languages: the name of each, which is also its stemmer's, and its ISO 639-1 code.
macro_rules! languages {
    ($($language:ident $code:literal,)*) => {
        /// A language with a stemmer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Language {
            $($language,)*
        }

        impl Language {
            /// All of them.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$language),*];

            fn algorithm(self) -> Algorithm {
                match self {
                    $(Self::$language => Algorithm::$language,)*
                }
            }

            /// The ISO 639-1 code.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$language => $code,)*
                }
            }
        }
    };
}

languages! {
    English "en",
    German "de",
    Spanish "es",
    French "fr",
    Italian "it",
    Portuguese "pt",
    Dutch "nl",
    Swedish "sv",
    Danish "da",
    Norwegian "no",
    Finnish "fi",
    Hungarian "hu",
    Romanian "ro",
    Turkish "tr",
    Russian "ru",
    Greek "el",
    Arabic "ar",
    Hindi "hi",
}

impl Language {
    /// The language with an ISO 639-1 code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The language that a word's script shows; `None` for Latin letters and for scripts without a stemmer.
    #[inline]
    pub fn of_script(word: &str) -> Option<Self> {
        let is_latin = word.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        if is_latin { None } else { Self::of_first_letter(word) }
    }

    fn of_first_letter(word: &str) -> Option<Self> {
        match word.chars().find(|c| c.is_alphabetic())? {
            '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}' => Some(Self::Greek),
            '\u{0400}'..='\u{052F}' => Some(Self::Russian),
            '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' => Some(Self::Arabic),
            '\u{0900}'..='\u{097F}' => Some(Self::Hindi),
            _ => None,
        }
    }

    /// The stem of a lower-case word.
    pub fn stem(self, word: &str) -> Cow<'_, str> {
        let word = match self {
            Self::English => base_form(word),
            Self::Arabic => without_article(word),
            _ => word,
        };
        Stemmer::new(self.algorithm()).stem(word)
    }

    /// Whether the language writes compounds as one word.
    pub fn compounds(self) -> bool {
        use Language::*;
        matches!(self, German | Dutch | Swedish | Danish | Norwegian | Finnish | Hungarian)
    }

    /// Whether an apostrophe ends a word, as in `l'eau` and `dell'arte`.
    pub(crate) fn elides(self) -> bool {
        matches!(self, Self::French | Self::Italian)
    }
}

/// An Arabic word without a prefixed conjunction, preposition or article, which the stemmer leaves on short
/// words.
fn without_article(word: &str) -> &str {
    let is_long = |rest: &&str, least: usize| rest.chars().nth(least - 1).is_some();
    let rest = word.strip_prefix('و').filter(|rest| is_long(rest, 4)).unwrap_or(word);
    let mut bare = ["ال", "بال", "كال", "فال", "لل"].iter().filter_map(|article| rest.strip_prefix(article));
    bare.next().filter(|rest| is_long(rest, 2)).unwrap_or(rest)
}

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Languages(u32);

impl Languages {
    /// Adds a language.
    #[inline]
    pub fn insert(&mut self, language: Language) {
        self.0 |= 1 << language as u32;
    }

    /// Whether a language is among them.
    #[inline]
    pub fn contains(self, language: Language) -> bool {
        self.0 & (1 << language as u32) != 0
    }

    /// The languages of both sets.
    #[inline]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The languages, in the order of [`Language::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Language> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = Language::ALL.get(left.trailing_zeros() as usize).copied();
            left &= left.wrapping_sub(1);
            next
        })
    }

    /// As bits, to store.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Those of bits that [`bits`](Self::bits) returned.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & ((1 << Language::ALL.len()) - 1))
    }
}

impl From<Language> for Languages {
    fn from(language: Language) -> Self {
        Self(1 << language as u32)
    }
}
