//! Why a decision is not reached.

use crate::{Need, Refusal, Result, Verdict};

/// Why a decision is not reached.
pub(crate) enum Stop {
    Need(Need),
    Refused(Refusal),
}

impl From<Need> for Stop {
    fn from(need: Need) -> Self {
        Self::Need(need)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The verdict for a decision.
pub(crate) fn verdict<T>(decided: Result<T, Stop>) -> Result<Verdict<T>> {
    match decided {
        Ok(decided) => Ok(Verdict::Decided(decided)),
        Err(Stop::Need(need)) => Ok(Verdict::Need(need)),
        Err(Stop::Refused(refusal)) => Err(refusal),
    }
}
