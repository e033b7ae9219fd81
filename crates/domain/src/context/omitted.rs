//! The utterances that a context leaves out, as ranges of sequences.

use std::collections::BTreeMap;

use crate::{Ranges, Sequence, context::Omission};

/// The utterances that are left out, by reason.
#[derive(Debug, Default)]
pub(super) struct Omitted(BTreeMap<Omission, Ranges>);

impl Omitted {
    /// Adds one utterance.
    pub(super) fn add(&mut self, omission: Omission, sequence: Sequence) {
        self.0.entry(omission).or_default().add(sequence);
    }

    /// Adds those of a set that are not left out for another reason.
    pub(super) fn add_others(&mut self, omission: Omission, ranges: &Ranges) {
        let mut others = ranges.clone();
        self.0.values().for_each(|known| others.subtract(known));
        self.add_all(omission, &others);
    }

    /// Adds a set.
    pub(super) fn add_all(&mut self, omission: Omission, ranges: &Ranges) {
        if !ranges.is_empty() {
            self.0.entry(omission).or_default().union(ranges);
        }
    }

    /// The reasons that apply, without the utterances that are `rendered` after all.
    pub(super) fn done(mut self, rendered: &Ranges) -> Vec<(Omission, Ranges)> {
        self.0.values_mut().for_each(|ranges| ranges.subtract(rendered));
        self.0.into_iter().filter(|(_, ranges)| !ranges.is_empty()).collect()
    }
}
