//! The counter without a bad case: time linear in the text, whatever it holds.

use std::sync::{LazyLock, OnceLock};

use bpe_openai::Tokenizer;
use bpe_openai::byte_pair_encoding::BytePairEncoding;
use tiktoken::CoreBpe;

use super::runs::RunMerger;
use crate::domain::TokenCounter;

/// Splits text with a finite automaton and counts the pieces with the linear byte-pair
/// encoding of the `bpe` crate, or with [`RunMerger`] where runs of one character make that
/// one backtrack.
pub(super) struct Bounded {
    tokenizer: &'static Tokenizer,
    vocabulary: &'static CoreBpe,
    runs: OnceLock<RunMerger>,
}

impl Bounded {
    pub(super) fn o200k_base() -> Self {
        Self::new(bpe_openai::o200k_base(), "o200k_base")
    }

    pub(super) fn cl100k_base() -> Self {
        Self::new(bpe_openai::cl100k_base(), "cl100k_base")
    }

    pub(super) fn p50k_base() -> Self {
        static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| gpt3_tokenizer("p50k_base"));
        Self::new(&TOKENIZER, "p50k_base")
    }

    pub(super) fn r50k_base() -> Self {
        static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| gpt3_tokenizer("r50k_base"));
        Self::new(&TOKENIZER, "r50k_base")
    }

    fn new(tokenizer: &'static Tokenizer, name: &'static str) -> Self {
        Self { tokenizer, vocabulary: vocabulary(name), runs: OnceLock::new() }
    }

    /// The number of tokens of `text`.
    pub(super) fn tokens(&self, text: &str) -> usize {
        self.tokenizer.split(text).map(|piece| self.count_piece(piece.as_bytes())).sum()
    }

    fn count_piece(&self, piece: &[u8]) -> usize {
        if RunMerger::suits(piece) {
            let new = || RunMerger::new(tokens(self.vocabulary));
            self.runs.get_or_init(new).count(piece)
        } else {
            self.tokenizer.bpe.count(piece)
        }
    }
}

impl TokenCounter for Bounded {
    fn count(&self, text: &str) -> u32 {
        saturated(self.tokens(text))
    }
}

/// The split rule of p50k and r50k, as three alternatives in order. Where OpenAI's rule says
/// `\s+(?!\S)`, the second takes one character more, which the tokenizer gives back.
const GPT3_SPLIT: [(&str, bool); 3] = [
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$", false),
    (r"\s+\s", true),
    (r"\s+", false),
];

/// A factor for which the hashes of all tokens differ; building the dictionary checks that.
const HASH_FACTOR: u64 = 17_846_336_922_010_275_747;

/// The special token whose rank lies among or right after those of p50k and r50k.
const END_OF_TEXT: &[u8] = b"<|endoftext|>";

#[expect(clippy::expect_used, reason = "the pattern is constant")]
fn gpt3_tokenizer(name: &str) -> Tokenizer {
    let ordered = tokens(vocabulary(name)).map(|(token, _)| token);
    let bpe = BytePairEncoding::from_dictionary(ordered, Some(HASH_FACTOR));
    Tokenizer::new_lookahead(bpe, &GPT3_SPLIT, false).expect("a valid split rule")
}

/// The vocabulary of an encoding, as the `tiktoken` crate carries it.
#[expect(clippy::expect_used, reason = "the crate is built with the four vocabularies")]
pub(super) fn vocabulary(name: &str) -> &'static CoreBpe {
    tiktoken::get_encoding(name).expect("a vocabulary that is compiled in")
}

/// The tokens of ordinary text with their ranks, lowest first.
fn tokens(vocabulary: &CoreBpe) -> impl Iterator<Item = (Vec<u8>, u32)> + '_ {
    // One rank more than there are tokens: p50k has END_OF_TEXT among them.
    let ranks = 0..=u32::try_from(vocabulary.vocab_size()).unwrap_or(u32::MAX);
    ranks
        .map(|rank| (vocabulary.decode(&[rank]), rank))
        .filter(|(token, _)| !token.is_empty() && token != END_OF_TEXT)
}

/// A count as the trait returns it.
pub(super) fn saturated(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
