//! The limits on what a plain-English instruction forgets.

use std::fmt;

/// A selection that its sentence is not believed to mean.
#[derive(Clone, PartialEq, Eq)]
pub struct Excess {
    /// Why not.
    pub kind: ExcessKind,
    /// Utterances of the window that would be forgotten.
    pub selected: usize,
    /// Utterances of the window that could be forgotten.
    pub window: usize,
    /// The short form of what was understood, which is always obeyed.
    pub instruction: String,
}

/// Why a sentence is not believed to mean what it selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcessKind {
    /// It is more than half of the window.
    Half,
    /// It is several utterances, and the sentence speaks of one.
    NotOne,
    /// Nothing in the window is what the sentence says to keep.
    KeepsNothing,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, selected, window, instruction } = self;
        write!(f, "selects {selected} of the {window} utterances in the window, ")?;
        f.write_str(match kind {
            ExcessKind::Half => "more than half",
            ExcessKind::NotOne => "and speaks of only one, without saying which",
            ExcessKind::KeepsNothing => "and none of what it says to keep is among them",
        })?;
        write!(f, ": if you mean that, send {instruction}")
    }
}

/// For logs: omits the text itself.
impl fmt::Debug for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, selected, window, .. } = self;
        let mut shown = f.debug_struct("Excess");
        shown.field("kind", kind).field("selected", selected).field("window", window).finish_non_exhaustive()
    }
}

impl std::error::Error for Excess {}
