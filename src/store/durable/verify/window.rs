//! The window's measures, counted once more.

use crate::domain::{Marks, Policy, Sequence, Utterance};

/// What the window of a conversation holds.
#[derive(Default)]
pub(super) struct WindowMeasures {
    slots: u64,
    tokens: u64,
    turns: u64,
    turn: u32,
    /// The newest unit, and whether it could leave if it were not the newest.
    unit: Option<(Sequence, bool)>,
    /// An older unit that could leave.
    free: Option<Sequence>,
    unread: bool,
}

impl WindowMeasures {
    pub(super) fn add(&mut self, utterance: &Utterance) {
        self.slots += 1;
        self.tokens += u64::from(utterance.counted_tokens());
        if utterance.is_live() && utterance.turn > 0 && utterance.turn != self.turn {
            self.turns += 1;
            self.turn = utterance.turn;
        }
        let free = !utterance.pinned && !utterance.instruction;
        self.unit = match self.unit {
            Some((unit, rest)) if unit == utterance.unit => Some((unit, rest && free)),
            older => {
                self.free = self.free.or(older.filter(|(_, free)| *free).map(|(unit, _)| unit));
                Some((utterance.unit, free))
            }
        };
    }

    /// An utterance that cannot be read.
    pub(super) fn pass(&mut self) {
        self.unread = true;
    }

    /// The window is within its limits, or only what may not leave is in it.
    pub(super) fn check(&self, policy: &Policy) -> Result<(), String> {
        let Some(free) = self.free.filter(|_| !self.unread) else { return Ok(()) };
        let measures = [
            ("utterances", self.slots, policy.utterances),
            ("tokens", self.tokens, policy.tokens),
            ("turns", self.turns, policy.turns),
        ];
        for (name, measure, marks) in measures {
            let Some(max) = marks.map(Marks::max).filter(|max| measure > u64::from(*max)) else { continue };
            return Err(format!(
                "its window has {measure} {name}; its policy lets it have {max}, and the unit of utterance {free} could leave"
            ));
        }
        Ok(())
    }
}
