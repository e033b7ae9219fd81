//! The counter without a bad case: its time is linear in the length of any text.

use std::sync::LazyLock;

use tiktoken::CoreBpe;

use super::{merge, ranks::Ranks, split::Splitter};
use utterd_domain::TokenCounter;

/// Splits text with a finite automaton and encodes the pieces in linear time.
pub(super) struct Bounded {
    splitter: Splitter,
    ranks: Ranks,
}

impl Bounded {
    pub(super) fn o200k_base() -> Self {
        Self::new(Splitter::o200k(), "o200k_base")
    }

    pub(super) fn cl100k_base() -> Self {
        Self::new(Splitter::cl100k(), "cl100k_base")
    }

    pub(super) fn p50k_base() -> Self {
        Self::new(Splitter::gpt3(), "p50k_base")
    }

    pub(super) fn r50k_base() -> Self {
        Self::new(Splitter::gpt3(), "r50k_base")
    }

    fn new(splitter: Splitter, name: &str) -> Self {
        Self { splitter, ranks: Ranks::new(tokens(vocabulary(name))) }
    }

    /// Returns the number of tokens of `text`.
    pub(super) fn tokens(&self, text: &str) -> usize {
        self.splitter.pieces(text).map(|piece| merge::count(&self.ranks, piece.as_bytes())).sum()
    }
}

impl TokenCounter for Bounded {
    fn count(&self, text: &str) -> u32 {
        saturated(self.tokens(text))
    }
}

/// A counter that is loaded by its first count.
pub(super) struct Lazy(LazyLock<Bounded>);

impl Lazy {
    pub(super) const fn new(load: fn() -> Bounded) -> Self {
        Self(LazyLock::new(load))
    }
}

impl TokenCounter for Lazy {
    fn count(&self, text: &str) -> u32 {
        self.0.count(text)
    }
}

/// The special token whose rank is among those of p50k, or right after those of r50k.
const END_OF_TEXT: &[u8] = b"<|endoftext|>";

/// Returns the vocabulary of an encoding from the `tiktoken` crate; the first call unpacks it.
#[expect(clippy::expect_used, reason = "the crate is built with the four vocabularies")]
pub(super) fn vocabulary(name: &str) -> &'static CoreBpe {
    tiktoken::get_encoding(name).expect("a vocabulary that is compiled in")
}

/// Returns the tokens of ordinary text in the order of their ranks.
fn tokens(vocabulary: &CoreBpe) -> impl Iterator<Item = Vec<u8>> + '_ {
    // One rank more than there are tokens: in p50k, END_OF_TEXT is among them.
    let ranks = 0..=u32::try_from(vocabulary.vocab_size()).unwrap_or(u32::MAX);
    let tokens = ranks.map(|rank| vocabulary.decode(&[rank]));
    tokens.filter(|token| !token.is_empty() && token != END_OF_TEXT)
}

/// Converts a count to the trait's type.
pub(super) fn saturated(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
