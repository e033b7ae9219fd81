//! What returns to the window of a fork whose point is in its parent's archive.

use std::{collections::BTreeSet, sync::Arc};

use crate::{Marks, Need, Policy, Ranges, Utterance, Window, change::Context};

/// Archived utterances that are looked at first.
const LOOK_BACK: u64 = 32;

/// The newest units of `archived` that fit in addition to `window`, under the `keep` of each measure. The
/// newest of all is always among them, unless the window has a newer one. In order.
pub(super) fn revived(
    window: &Window,
    archived: &Ranges,
    policy: &Policy,
    context: &Context<'_>,
) -> Result<Vec<Arc<Utterance>>, Need> {
    let mut count = LOOK_BACK;
    loop {
        let wanted = archived.clone().take_last(count);
        let candidates = context.loaded.archive(&wanted)?;
        let mut room = Room::of(window, policy);
        let mut fitting = candidates.len();
        for unit in candidates.chunk_by(|one, other| one.unit == other.unit).rev() {
            if !room.takes(unit) {
                return Ok(candidates[fitting..].to_vec());
            }
            fitting -= unit.len();
        }
        if wanted == *archived {
            return Ok(candidates);
        }
        // the oldest unit in sight may begin further back
        count *= 8;
    }
}

/// A window that is being filled from its newest end.
struct Room<'a> {
    policy: &'a Policy,
    newest: Option<&'a Arc<Utterance>>,
    utterances: u64,
    tokens: u64,
    turns: BTreeSet<u32>,
}

impl<'a> Room<'a> {
    fn of(window: &'a Window, policy: &'a Policy) -> Self {
        let live = window.iter().filter(|utterance| utterance.is_live() && utterance.turn > 0);
        Self {
            policy,
            newest: window.last(),
            utterances: window.len() as u64,
            tokens: window.tokens(),
            turns: live.map(|utterance| utterance.turn).collect(),
        }
    }

    /// Adds `unit`, which is older than those already added; returns whether it fits.
    fn takes(&mut self, unit: &'a [Arc<Utterance>]) -> bool {
        self.utterances += unit.len() as u64;
        self.tokens += unit.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum::<u64>();
        let live = unit.iter().filter(|utterance| utterance.is_live() && utterance.turn > 0);
        self.turns.extend(live.map(|utterance| utterance.turn));
        let last = unit.last();
        let newest = last.map(|last| last.sequence) > self.newest.map(|newest| newest.sequence);
        if newest {
            self.newest = last;
        }
        newest || self.fits()
    }

    fn fits(&self) -> bool {
        let keeps =
            |marks: Option<Marks>, value: u64| marks.is_none_or(|marks| value <= u64::from(marks.keep()));
        keeps(self.policy.utterances, self.utterances)
            && keeps(self.policy.tokens, self.tokens)
            && keeps(self.policy.turns, self.turns.len() as u64)
    }
}
