//! What plain English does not forget.

/// More of a window than a sentence is believed to mean.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "selects {selected} of the {window} utterances in the window, more than half: if that is meant, say {instruction}"
)]
pub struct Excess {
    /// Utterances of the window that would be forgotten.
    pub selected: usize,
    /// Utterances of the window that could be.
    pub window: usize,
    /// What was understood, in its short form, which is always obeyed.
    pub instruction: String,
}
