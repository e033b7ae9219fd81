//! Reads texts: the one scanner that summaries, search and forgetting share. Pure, in time linear in the text.
//!
//! | function | finds |
//! |---|---|
//! | [`sentences()`] | sentences, list items and pieces of code |
//! | [`words()`] | words, with a number that is equal for words of the same meaning |
//! | [`entities()`] | paths, addresses, identifiers, amounts, dates, names |
//! | [`cues()`] | what a sentence is for: a constraint, a request, a correction, … |
//! | [`clip()`] | the beginning of a text that fits into a number of tokens |
//! | [`secrets`] | what looks like a credential |
//!
//! The lists of words are data: `cues.tsv`, `secrets.tsv`, and those of `language`.

mod chars;
mod clip;
mod cues;
mod entities;
mod language;
mod normal;
mod patterns;
pub mod secrets;
mod sentences;
mod words;

pub use chars::is_unspaced;
pub use clip::{clip, one_line};
pub use cues::{Cues, cues, cues_and_votes, matter};
pub use entities::{Entity, Kind, entities, entities_in};
pub use language::{Language, Languages, Votes, asking, base_form, everyday, stops, unspaced_stop};
pub use patterns::Patterns;
pub use sentences::{End, Sentence, sentences};
pub use words::{Word, Words, words, words_in};
