//! The limit on what a plain-English instruction forgets.

use std::fmt;

/// A selection larger than its sentence is believed to mean.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "selects {selected} of the {window} utterances in the window, more than half: if you mean that, send {instruction}"
)]
pub struct Excess {
    /// Utterances of the window that would be forgotten.
    pub selected: usize,
    /// Utterances of the window that could be forgotten.
    pub window: usize,
    /// The short form of what was understood, which is always obeyed.
    pub instruction: String,
}

/// For logs: omits the text itself.
impl fmt::Debug for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Excess");
        shown.field("selected", &self.selected).field("window", &self.window).finish_non_exhaustive()
    }
}
