//! Remember: finding what was said.
//!
//! The ranking is lexical. An [`Index`] holds the terms of one conversation's utterances, and a [`Search`]
//! ranks those of one or several conversations for a [`Query`]: by BM25F over the words of an utterance (of
//! its best passage, if it is long), those of its neighbours, its speaker's name and its time. All of it is
//! deterministic and does no I/O.
//!
//! | Step | File |
//! |---|---|
//! | a text to words, their ranges, and whether they are in a question | `words`, `questions` |
//! | words to terms: stems, identifiers and their parts, pairs of characters | `terms`, `term`, `stem`, `identifiers`, `groups`, `capitals`, `vocabulary`, `language` |
//! | terms to blocks of an index, and these to bytes | `said`, `dictionary`, `postings`, `block`, `index`, `bytes` |
//! | a prompt to what it asks for | `query`, `times` |
//! | looking that up in the indexes | `lookup`, `sought`, `similar` |
//! | which of its words must be covered | `phrasing`, `covering` |
//! | the score and the relevance of each utterance, and how relevant a hit must be | `fields`, `around`, `weights`, `score`, `floor` |
//! | what a hit has in common with the prompt | `matched` |
//! | scores and cosines in one order, if there are embeddings | `hybrid` |

mod around;
mod block;
mod bytes;
mod capitals;
mod covering;
mod dictionary;
mod fields;
mod floor;
mod groups;
mod holds;
pub mod hybrid;
mod identifiers;
mod index;
mod language;
mod lookup;
mod matched;
mod phrasing;
mod postings;
mod query;
mod questions;
mod said;
mod score;
mod similar;
mod sought;
mod stem;
mod term;
mod terms;
#[cfg(test)]
mod tests;
mod times;
mod vocabulary;
mod wanted;
mod weights;
mod words;

pub use block::IndexBlock;
pub use floor::Floor;
pub use holds::{Terms, holds_all, terms};
pub use index::{Index, IndexMaker};
pub use matched::{Match, Matched};
pub use query::Query;
pub use said::Said;
pub use score::{Hit, Search};
