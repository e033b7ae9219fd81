//! How often the interesting cases occurred: a test that never evicts would show nothing.

use std::collections::BTreeMap;

use crate::{ensure, naive::Facts};

/// The cases that must occur in the sequences of a test.
const WANTED: [&str; 26] = [
    "memorized",
    "late",
    "evicted",
    "dropped",
    "forgotten",
    "erased",
    "parted",
    "replaced",
    "replaced by its id",
    "came as messages",
    "compacted",
    "forked",
    "lost with another",
    "given back",
    "restored",
    "updated",
    "kept",
    "kept of its own",
    "refused: STALE_STATE",
    "irregular",
    "folded",
    "over a limit",
    "an open exchange over a limit",
    "replayed",
    "removed",
    "ended",
];

/// Counts by name.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<String, u64>);

impl Tally {
    pub fn count(&mut self, what: &str, times: usize) {
        *self.0.entry(what.to_owned()).or_default() += times as u64;
    }

    /// Counts what a call did.
    pub fn facts(&mut self, facts: &Facts) {
        self.count("decided", 1);
        self.count("memorized", facts.memorized.len());
        self.count("late", facts.late);
        self.count("evicted", facts.evicted.len());
        self.count("dropped", facts.dropped.len());
        self.count("forgotten", facts.forgotten.len());
        self.count("erased", facts.erased.len());
        let is_replaced = !facts.memorized.is_empty() && !facts.erased.is_empty();
        self.count("replaced", usize::from(is_replaced));
        self.count("replaced by its id", facts.instead.len());
        self.count("given back", facts.returned.len());
        self.count("parted", facts.parted);
        self.count("restored", facts.restored.len());
        self.count("updated", facts.updated.len());
        self.count("kept", facts.kept);
        self.count("kept of its own", usize::from(facts.own.is_some()));
        self.count("irregular", facts.irregular.len());
        self.count("removed", usize::from(facts.removed.is_some()));
        self.count("without a change", usize::from(!facts.changed));
    }

    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(what, times)| *self.0.entry(what.clone()).or_default() += times);
    }

    /// An error unless every required case occurred; restarts only if there are any.
    pub fn check(&self, restarts: bool) -> Result<(), String> {
        let wanted = WANTED.iter().chain(restarts.then_some(&"restarted"));
        let missing: Vec<_> =
            wanted.filter(|what| self.0.get(**what).is_none_or(|times| *times == 0)).collect();
        ensure!(missing.is_empty(), "never happened: {missing:?}; only {:?}", self.0);
        Ok(())
    }
}
