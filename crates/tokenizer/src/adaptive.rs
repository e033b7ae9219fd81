//! The counter of o200k and cl100k.

use std::sync::LazyLock;

use tiktoken::CoreBpe;

use super::blocks::{Blocks, is_plain};
use super::bounded::{self, Bounded, saturated};
use utterd_domain::TokenCounter;

/// Counts plain blocks with the `tiktoken` crate, which is fastest for them, and all others
/// with [`Bounded`], because the crate takes microseconds for a rare character and `n log n`
/// time for a long piece.
pub(super) struct Adaptive {
    fast: LazyLock<&'static CoreBpe>,
    bounded: LazyLock<Bounded>,
}

impl Adaptive {
    pub(super) const fn o200k_base() -> Self {
        Self {
            fast: LazyLock::new(|| bounded::vocabulary("o200k_base")),
            bounded: LazyLock::new(Bounded::o200k_base),
        }
    }

    pub(super) const fn cl100k_base() -> Self {
        Self {
            fast: LazyLock::new(|| bounded::vocabulary("cl100k_base")),
            bounded: LazyLock::new(Bounded::cl100k_base),
        }
    }

    fn count_block(&self, block: &str) -> usize {
        if is_plain(block) { self.fast.count(block) } else { self.bounded.tokens(block) }
    }
}

impl TokenCounter for Adaptive {
    fn count(&self, text: &str) -> u32 {
        saturated(Blocks::of(text).map(|block| self.count_block(block)).sum())
    }
}
