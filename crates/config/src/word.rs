//! Values that are one of a few words.

/// Values, each with its word, and behind it the others that mean the same.
pub type Words<T> = &'static [(T, &'static [&'static str])];

/// A value that is one of a few words.
pub trait Word: Copy + PartialEq + 'static {
    /// All values.
    const WORDS: Words<Self>;

    /// Returns the value that `word` names.
    fn named(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(value, _)| *value)
    }

    /// Returns the value's word.
    fn name(self) -> &'static str {
        let words = Self::WORDS.iter().find(|(value, _)| *value == self).map(|(_, words)| words);
        words.and_then(|words| words.first()).unwrap_or(&"")
    }
}
