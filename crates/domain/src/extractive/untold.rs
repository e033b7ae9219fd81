//! Why a summary is empty.

use crate::limits::DEFAULT_SUMMARY_TOKENS;

/// The reason a summary is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// The scope contains no utterance.
    #[error("the summary is empty: the scope contains nothing to summarise")]
    NothingSelected,
    /// Every sentence is longer than the limit.
    #[error("the summary is empty: the token limit is {0}, and every sentence is longer")]
    LimitTooSmall(u32),
    /// The scope contains only greetings and the like.
    #[error("the summary is empty: the scope contains nothing that a summary would keep")]
    NothingToTell,
}

impl Untold {
    /// The reason nothing fits in `limit` tokens; `tells` returns whether anything fits in a given number of
    /// tokens.
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
