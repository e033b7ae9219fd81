//! Why a summary tells nothing.

use crate::domain::limits::DEFAULT_SUMMARY_TOKENS;

/// Why nothing is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// Nothing is there to be told of.
    #[error("the summary is empty: the scope contains nothing to summarise")]
    NothingSelected,
    /// Not one sentence has so few tokens.
    #[error("the summary is empty: the token limit is {0}, and every sentence has more")]
    LimitTooSmall(u32),
    /// There are only greetings and the like.
    #[error("the summary is empty: the scope contains nothing that a summary would keep")]
    NothingToTell,
}

impl Untold {
    /// Why nothing is told within `limit` tokens; `tells` answers whether anything is within so many.
    pub fn of(is_selected: bool, limit: u32, tells: impl FnOnce(u32) -> bool) -> Self {
        match is_selected {
            false => Self::NothingSelected,
            true if limit < DEFAULT_SUMMARY_TOKENS && tells(DEFAULT_SUMMARY_TOKENS) => {
                Self::LimitTooSmall(limit)
            }
            true => Self::NothingToTell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_to_blame_where_more_tokens_would_tell() {
        assert_eq!(Untold::of(true, 1, |more| more == 1_000), Untold::LimitTooSmall(1));
        assert_eq!(Untold::of(true, 1, |_| false), Untold::NothingToTell);
        assert_eq!(Untold::of(true, 1_000, |_| true), Untold::NothingToTell, "it was tried");
        assert_eq!(Untold::of(false, 1, |_| true), Untold::NothingSelected);
    }
}
