//! What is known of languages: stems, irregular words, and words without a subject.

pub(super) mod irregular;
pub(super) mod languages;
pub(super) mod stems;
pub(super) mod stop_words;
