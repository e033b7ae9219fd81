//! Remember: finding what was said.
//!
//! The ranking is lexical. [`terms()`] turns a text into terms, an [`Index`] holds those of one
//! conversation, and [`score`] ranks the utterances of one or several conversations for a
//! [`Query`] by BM25. All of it is deterministic and does no I/O.

mod index;
mod pieces;
mod query;
mod stop_words;
mod terms;

pub use index::Index;
pub use pieces::{MAX_TERM_BYTES, TermKind};
pub use query::{Hit, Query, score};
pub use terms::{Term, Terms, holds_all, terms};
