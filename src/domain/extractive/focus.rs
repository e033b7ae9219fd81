//! What a caller wants a summary to dwell on.

use crate::domain::extractive::words::scan;

/// Terms that raise the sentences that hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus(Vec<u32>);

impl Focus {
    /// Nothing in particular.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The words of `areas`, without regard to case or plural. Words as common as "the"
    /// are passed over.
    pub fn new(areas: &[String]) -> Self {
        let mut concepts = Vec::new();
        for area in areas {
            scan(area, |word| concepts.extend((word.weight > 0).then_some(word.concept)));
        }
        concepts.sort_unstable();
        concepts.dedup();
        Self(concepts)
    }

    pub(super) fn holds(&self, concept: u32) -> bool {
        !self.0.is_empty() && self.0.binary_search(&concept).is_ok()
    }
}
