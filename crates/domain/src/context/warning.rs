//! What a context lacks, although one might expect it.

use std::fmt::{self, Display, Formatter};

/// What limits leave out and no summary covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncovered {
    /// Utterances of the window that are not soft-forgotten, and all that left it without a summary.
    pub utterances: u64,
    /// Turns of the window without a recent utterance that is rendered.
    pub turns: u32,
}

/// A warning for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Limits leave out utterances that no summary covers.
    Uncovered(Uncovered),
    /// The summary does not fit completely.
    SummaryCut,
    /// This many messages, other than tool results, are trimmed to their head and tail.
    MessagesTrimmed(usize),
    /// Images, files or thinking of older messages are left out: together they are too large.
    PartsLeftOut,
    /// What the format has no place for, or its provider refuses, is left out: its names, in order.
    NotSent(Box<str>),
}

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncovered(Uncovered { utterances, turns }) => {
                let are = if *utterances == 1 {
                    "utterance that no summary covers is"
                } else {
                    "utterances that no summary covers are"
                };
                write!(f, "{utterances} {are} left out")?;
                match turns {
                    0 => {}
                    1 => write!(f, ", including one whole turn of the window")?,
                    turns => write!(f, ", including {turns} whole turns of the window")?,
                }
                write!(f, "; see omitted for the limits")
            }
            Self::MessagesTrimmed(count) => {
                let are = if *count == 1 { "message is" } else { "messages are" };
                write!(
                    f,
                    "{count} {are} cut to the head and the tail; a larger token_budget makes room for the rest"
                )
            }
            Self::PartsLeftOut => write!(
                f,
                "images, files or thinking of older messages are left out, because all of them together are too large"
            ),
            Self::NotSent(names) => write!(
                f,
                "left out, because the format has no place for it or its provider refuses it: {names}"
            ),
            Self::SummaryCut => {
                write!(
                    f,
                    "the whole summary does not fit into its share; a larger token_budget makes room for it"
                )
            }
        }
    }
}
