//! Limits.

use utterd::domain::{self, Oversize, policy::PolicyUpdate};

use super::Reason;

/// The water marks of one measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    pub max: u32,
    given_keep: Option<u32>,
}

impl Marks {
    /// As given, or four fifths of the maximum; at least 1.
    pub fn keep(self) -> u32 {
        self.given_keep.unwrap_or((self.max * 4 / 5).max(1))
    }
}

/// A conversation's limits; `None` is unlimited.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub utterances: Option<Marks>,
    pub tokens: Option<Marks>,
    pub turns: Option<Marks>,
    pub summarizes: bool,
    pub summary_limit: Option<u32>,
    pub reject: bool,
    pub archive: usize,
}

impl From<&domain::Policy> for Policy {
    fn from(policy: &domain::Policy) -> Self {
        let marks = |marks: domain::Marks| Marks { max: marks.max(), given_keep: marks.given_keep() };
        Self {
            utterances: policy.utterances.map(marks),
            tokens: policy.tokens.map(marks),
            turns: policy.turns.map(marks),
            summarizes: policy.summarization_enabled,
            summary_limit: policy.summary_token_limit,
            reject: policy.oversize == Oversize::Reject,
            archive: policy.archive_limit as usize,
        }
    }
}

impl Policy {
    /// This policy changed by a request's.
    pub fn changed(&self, by: &PolicyUpdate) -> Result<Self, Reason> {
        let base = by.preset.as_ref().map_or_else(|| self.clone(), Self::from);
        Ok(Self {
            utterances: marks(base.utterances, by.max_utterances, by.keep_utterances)?,
            tokens: marks(base.tokens, by.max_tokens, by.keep_tokens)?,
            turns: marks(base.turns, by.max_turns, by.keep_turns)?,
            summarizes: by.summarization_enabled.unwrap_or(base.summarizes),
            summary_limit: match by.summary_token_limit {
                None => base.summary_limit,
                Some(limit) => Some(limit).filter(|limit| *limit > 0),
            },
            reject: by.oversize.map_or(base.reject, |oversize| oversize == Oversize::Reject),
            archive: by.archive_limit.map_or(base.archive, |limit| limit as usize),
        })
    }
}

/// A maximum of 0 means none. A given `keep` that no longer fits its maximum is dropped.
fn marks(base: Option<Marks>, max: Option<u32>, keep: Option<u32>) -> Result<Option<Marks>, Reason> {
    let max = max.or(base.map(|marks| marks.max)).filter(|max| *max > 0);
    let inherited = base.and_then(|marks| marks.given_keep);
    match (max, keep) {
        (None, None) => Ok(None),
        (None, Some(_)) | (_, Some(0)) => Err("INVALID_FIELD"),
        (Some(max), Some(keep)) if keep > max => Err("INVALID_FIELD"),
        (Some(max), Some(keep)) => Ok(Some(Marks { max, given_keep: Some(keep) })),
        (Some(max), None) => Ok(Some(Marks { max, given_keep: inherited.filter(|keep| *keep <= max) })),
    }
}
