//! What plain English does not forget.

use std::fmt;

/// More of a window than a sentence is believed to mean.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "selects {selected} of the {window} utterances in the window, more than half: if you mean that, send {instruction}"
)]
pub struct Excess {
    /// Utterances of the window that would be forgotten.
    pub selected: usize,
    /// Utterances of the window that could be.
    pub window: usize,
    /// What was understood, in its short form, which is always obeyed.
    pub instruction: String,
}

/// For logs: without what was written.
impl fmt::Debug for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Excess");
        shown.field("selected", &self.selected).field("window", &self.window).finish_non_exhaustive()
    }
}
