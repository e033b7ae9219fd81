//! Why a summary tells nothing.

use crate::domain::limits::DEFAULT_SUMMARY_TOKENS;

/// Why nothing is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// Nothing is there to be told of.
    #[error("nothing is told: the scope holds nothing to summarise")]
    NothingSelected,
    /// Not one sentence has so few tokens.
    #[error("nothing is told: the token limit is {0}, and no sentence has so few tokens")]
    LimitTooSmall(u32),
    /// There are only greetings and the like.
    #[error("nothing is told: what the scope holds says nothing that a summary tells")]
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
