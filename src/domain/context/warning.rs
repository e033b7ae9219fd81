//! What a context does not tell although it might be thought to.

use std::fmt::{self, Display, Formatter};

/// What limits leave out that no summary covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncovered {
    /// Utterances, of the window but for the soft-forgotten, and all that left it without a summary.
    pub utterances: u64,
    /// Turns of the window of which no recent utterance is rendered.
    pub turns: u32,
}

/// What the caller should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A limit leaves out what no summary covers.
    Uncovered(Uncovered),
    /// The summary does not fit whole.
    SummaryCut,
    /// Images, files or thinking of older messages are left out: all together they are too large.
    PartsLeftOut,
}

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncovered(Uncovered { utterances, turns }) => {
                let are = if *utterances == 1 { "utterance is" } else { "utterances are" };
                write!(f, "{utterances} {are} left out that no summary covers")?;
                match turns {
                    0 => {}
                    1 => write!(f, ", one whole turn of the window among them")?,
                    turns => write!(f, ", {turns} whole turns of the window among them")?,
                }
                write!(f, "; omitted tells by which limit")
            }
            Self::PartsLeftOut => write!(
                f,
                "images, files or thinking of older messages are left out, as all of them together are too large"
            ),
            Self::SummaryCut => {
                write!(
                    f,
                    "the summary does not fit whole into its share; a larger token_budget has room for it"
                )
            }
        }
    }
}
