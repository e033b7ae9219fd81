//! The window's measures, counted again.

use crate::{Head, Marks, Sequence, Utterance, Window};

/// The measures of a conversation's window.
#[derive(Default)]
pub(super) struct Measures {
    slots: u64,
    tokens: u64,
    turns: u64,
    turn: u32,
    /// The newest unit, and whether it could leave if it were not the newest.
    unit: Option<(Sequence, bool)>,
    /// An older unit that could leave.
    free: Option<Sequence>,
}

impl Measures {
    /// Adds the next utterance of the window.
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

    /// Checks the head's count of the window's tokens.
    pub(super) fn check_tokens(&self, head: &Head) -> Result<(), String> {
        let (counted, there) = (head.window_tokens, self.tokens);
        match counted == there {
            true => Ok(()),
            false => Err(format!("its head counts {counted} tokens in the window, but there are {there}")),
        }
    }

    /// Checks that the window is within its limits, or holds only utterances that cannot leave.
    ///
    /// An undone compaction may leave the window above its limits until the next utterance is added.
    pub(super) fn check(&self, head: &Head) -> Result<(), String> {
        let Some(free) = self.free.filter(|_| head.compacted_at != head.next) else { return Ok(()) };
        let measures = [
            ("utterances", self.slots, head.policy.utterances),
            ("tokens", self.tokens, head.policy.tokens),
            ("turns", self.turns, head.policy.turns),
        ];
        for (name, measure, marks) in measures {
            let Some(max) = marks.map(Marks::max).filter(|max| measure > u64::from(*max)) else { continue };
            return Err(format!(
                "its window has {measure} {name}; its policy allows {max}, and the unit of utterance {free} could leave"
            ));
        }
        Ok(())
    }

    /// Checks the window's own counts.
    pub(super) fn differ(&self, window: &Window) -> Result<(), String> {
        let counted = [self.slots, self.tokens, self.turns];
        let known = [window.len() as u64, window.tokens(), window.turns().into()];
        match counted == known {
            true => Ok(()),
            false => Err(format!(
                "its window counts {known:?} utterances, tokens and turns, but there are {counted:?}"
            )),
        }
    }
}
