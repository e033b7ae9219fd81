//! Limits.

use utterd::proto::{self, Oversize, PolicyPreset};

use super::Reason;

/// The water marks of one measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    pub max: i32,
    given_keep: Option<i32>,
}

impl Marks {
    /// As given, or four fifths of the maximum; at least 1.
    pub fn keep(self) -> i32 {
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
    pub summary_limit: Option<i32>,
    pub reject: bool,
    pub archive: usize,
}

impl Policy {
    pub fn rolling(utterances: i32, tokens: i32, summary: i32, archive: usize) -> Self {
        let marks = |max| Some(Marks { max, given_keep: None });
        Self {
            utterances: marks(utterances),
            tokens: marks(tokens),
            turns: None,
            summarizes: true,
            summary_limit: Some(summary),
            reject: false,
            archive,
        }
    }

    fn preset(preset: PolicyPreset) -> Option<Self> {
        let rolling = Self::rolling(20, 8_000, 1_000, 10_000);
        let turns = Some(Marks { max: 10, given_keep: Some(3) });
        match preset {
            PolicyPreset::Unspecified => None,
            PolicyPreset::Rolling => Some(rolling),
            PolicyPreset::Turns => Some(Self { utterances: None, turns, ..rolling }),
            PolicyPreset::Session => Some(Self { utterances: None, tokens: None, ..rolling }),
        }
    }

    /// This policy changed by a request's.
    pub fn changed(&self, by: &proto::Policy) -> Result<Self, Reason> {
        let base = Self::preset(by.preset()).unwrap_or_else(|| self.clone());
        if [by.keep_utterances, by.keep_tokens, by.keep_turns].iter().flatten().any(|keep| *keep < 1) {
            return Err("INVALID_FIELD");
        }
        Ok(Self {
            utterances: marks(base.utterances, by.max_utterances, by.keep_utterances)?,
            tokens: marks(base.tokens, by.max_tokens, by.keep_tokens)?,
            turns: marks(base.turns, by.max_turns, by.keep_turns)?,
            summarizes: by.summarization_enabled.unwrap_or(base.summarizes),
            summary_limit: match by.summary_token_limit {
                None => base.summary_limit,
                Some(limit) => Some(limit).filter(|limit| *limit > 0),
            },
            reject: match by.oversize() {
                Oversize::Unspecified => base.reject,
                Oversize::Keep => false,
                Oversize::Reject => true,
            },
            archive: by.archive_limit.map_or(base.archive, |limit| limit as usize),
        })
    }

    /// The policy as responses show it.
    pub fn wire(&self) -> proto::Policy {
        let max = |marks: Option<Marks>| marks.map(|marks| marks.max);
        let keep = |marks: Option<Marks>| marks.map(Marks::keep);
        let oversize = if self.reject { Oversize::Reject } else { Oversize::Keep };
        proto::Policy {
            preset: 0,
            max_utterances: max(self.utterances),
            keep_utterances: keep(self.utterances),
            max_tokens: max(self.tokens),
            keep_tokens: keep(self.tokens),
            max_turns: max(self.turns),
            keep_turns: keep(self.turns),
            summarization_enabled: Some(self.summarizes),
            summary_token_limit: self.summary_limit,
            oversize: oversize.into(),
            archive_limit: Some(self.archive as i32),
            expire_after: None,
            llm_summaries: None,
            summary_model: None,
        }
    }
}

/// A maximum of 0 means none. A given `keep` that no longer fits its maximum is dropped.
fn marks(base: Option<Marks>, max: Option<i32>, keep: Option<i32>) -> Result<Option<Marks>, Reason> {
    let max = max.or(base.map(|marks| marks.max)).filter(|max| *max > 0);
    let inherited = base.and_then(|marks| marks.given_keep);
    match (max, keep) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err("INVALID_FIELD"),
        (Some(max), Some(keep)) if keep > max => Err("INVALID_FIELD"),
        (Some(max), Some(keep)) => Ok(Some(Marks { max, given_keep: Some(keep) })),
        (Some(max), None) => Ok(Some(Marks { max, given_keep: inherited.filter(|keep| *keep <= max) })),
    }
}
