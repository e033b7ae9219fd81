//! A conversation's limits.

use std::{sync::Arc, time::Duration};

use crate::{
    Refusal, Result,
    limits::{
        DEFAULT_ARCHIVE_LIMIT, DEFAULT_KEEP_TURNS, DEFAULT_MAX_TOKENS, DEFAULT_MAX_TURNS,
        DEFAULT_MAX_UTTERANCES, DEFAULT_SUMMARY_TOKENS,
    },
};

/// The water marks of one measure: eviction starts above `max` and stops at `keep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Marks {
    max: u32,
    keep: Option<u32>,
}

impl Marks {
    /// Marks with `keep` at four fifths of `max`, rounded down and at least 1.
    pub const fn of(max: u32) -> Self {
        Self { max, keep: None }
    }

    /// Marks with an explicit `keep`; `None` unless `1 ≤ keep ≤ max`.
    pub fn with_keep(max: u32, keep: u32) -> Option<Self> {
        (1..=max).contains(&keep).then_some(Self { max, keep: Some(keep) })
    }

    /// The most that the window may hold.
    pub fn max(self) -> u32 {
        self.max
    }

    /// The most that an eviction leaves.
    pub fn keep(self) -> u32 {
        let derived = (u64::from(self.max) * 4 / 5) as u32;
        self.keep.unwrap_or(derived.max(1))
    }

    /// The explicit `keep`, if there is one.
    pub fn given_keep(self) -> Option<u32> {
        self.keep
    }
}

/// What happens to an utterance or exchange larger than `max_tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Oversize {
    /// It is kept; the window is over its limit, and it leaves with the next eviction.
    #[default]
    Keep,
    /// It is refused.
    Reject,
}

/// A conversation's limits. `None` means unlimited.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Policy {
    /// Utterances in the window.
    pub utterances: Option<Marks>,
    /// Tokens of the window's utterances.
    pub tokens: Option<Marks>,
    /// Distinct live turns in the window.
    pub turns: Option<Marks>,
    /// Whether what leaves the window is summarised.
    pub summarization_enabled: bool,
    /// Tokens of the whole summary.
    pub summary_token_limit: Option<u32>,
    /// What happens to an utterance or exchange that is larger than the limit by itself.
    pub oversize: Oversize,
    /// Utterances in the archive; 0 keeps none.
    pub archive_limit: u32,
    /// How long after its last change the conversation is removed.
    pub expire_after: Option<Duration>,
    /// Whether a model rewrites summaries and closings; by default, if there is one.
    pub llm_summaries: Option<bool>,
    /// The model that does so; by default the server's.
    pub summary_model: Option<Arc<str>>,
}

impl Policy {
    /// 20 utterances and 8,000 tokens.
    pub const ROLLING: Self = Self {
        utterances: Some(Marks::of(DEFAULT_MAX_UTTERANCES)),
        tokens: Some(Marks::of(DEFAULT_MAX_TOKENS)),
        turns: None,
        summarization_enabled: true,
        summary_token_limit: Some(DEFAULT_SUMMARY_TOKENS),
        oversize: Oversize::Keep,
        archive_limit: DEFAULT_ARCHIVE_LIMIT,
        expire_after: None,
        llm_summaries: None,
        summary_model: None,
    };

    /// 10 turns, of which 3 are kept, and 8,000 tokens.
    pub const TURNS: Self = Self {
        utterances: None,
        turns: Some(Marks { max: DEFAULT_MAX_TURNS, keep: Some(DEFAULT_KEEP_TURNS) }),
        ..Self::ROLLING
    };

    /// No limit on utterances, turns or tokens.
    pub const SESSION: Self = Self { utterances: None, tokens: None, ..Self::ROLLING };
}

/// Changes to a policy. `None` leaves a value unchanged; `Some(0)` for a maximum, for `summary_token_limit`
/// or for `expire_after` means unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyUpdate {
    /// Limits to start from instead of the current ones.
    pub preset: Option<Policy>,
    /// See [`Policy::utterances`].
    pub max_utterances: Option<u32>,
    /// See [`Marks::keep`].
    pub keep_utterances: Option<u32>,
    /// See [`Policy::tokens`].
    pub max_tokens: Option<u32>,
    /// See [`Marks::keep`].
    pub keep_tokens: Option<u32>,
    /// See [`Policy::turns`].
    pub max_turns: Option<u32>,
    /// See [`Marks::keep`].
    pub keep_turns: Option<u32>,
    /// See [`Policy::summarization_enabled`].
    pub summarization_enabled: Option<bool>,
    /// See [`Policy::summary_token_limit`].
    pub summary_token_limit: Option<u32>,
    /// See [`Policy::oversize`].
    pub oversize: Option<Oversize>,
    /// See [`Policy::archive_limit`].
    pub archive_limit: Option<u32>,
    /// See [`Policy::expire_after`].
    pub expire_after: Option<Duration>,
    /// See [`Policy::llm_summaries`]. A preset does not change it.
    pub llm_summaries: Option<bool>,
    /// See [`Policy::summary_model`]; an empty one is the server's. A preset does not change it.
    pub summary_model: Option<Arc<str>>,
}

impl PolicyUpdate {
    /// Returns `base` with these changes.
    ///
    /// Refuses a `keep` outside 1 to its maximum, and one for an unlimited measure; `field` is the update's
    /// place in the request. If a new maximum is below the explicit `keep`, that is replaced by four fifths
    /// of the maximum.
    pub fn apply(&self, base: &Policy, field: &str) -> Result<Policy> {
        let (present, base) = (base, self.preset.as_ref().unwrap_or(base));
        let at = |name: &str| format!("{field}.{name}");
        Ok(Policy {
            utterances: marks(base.utterances, self.max_utterances, self.keep_utterances, || {
                at("keep_utterances")
            })?,
            tokens: marks(base.tokens, self.max_tokens, self.keep_tokens, || at("keep_tokens"))?,
            turns: marks(base.turns, self.max_turns, self.keep_turns, || at("keep_turns"))?,
            summarization_enabled: self.summarization_enabled.unwrap_or(base.summarization_enabled),
            summary_token_limit: match self.summary_token_limit {
                None => base.summary_token_limit,
                Some(0) => None,
                limit => limit,
            },
            oversize: self.oversize.unwrap_or(base.oversize),
            archive_limit: self.archive_limit.unwrap_or(base.archive_limit),
            expire_after: match self.expire_after {
                None => base.expire_after,
                Some(Duration::ZERO) => None,
                after => after,
            },
            llm_summaries: self.llm_summaries.or(present.llm_summaries),
            summary_model: match &self.summary_model {
                None => present.summary_model.clone(),
                Some(model) => Some(model.clone()).filter(|model| !model.is_empty()),
            },
        })
    }
}

fn marks(
    base: Option<Marks>,
    max: Option<u32>,
    keep: Option<u32>,
    field: impl Fn() -> String,
) -> Result<Option<Marks>> {
    let max = match max {
        Some(0) => None,
        Some(max) => Some(max),
        None => base.map(Marks::max),
    };
    let inherited = base.and_then(Marks::given_keep);
    match (max, keep) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(Refusal::invalid(field(), "is accepted only with a maximum; this measure is unlimited"))
        }
        (Some(max), Some(keep)) => match Marks::with_keep(max, keep) {
            Some(marks) => Ok(Some(marks)),
            None => Err(Refusal::invalid(field(), format!("is {keep}; accepted: 1 to the maximum, {max}"))),
        },
        (Some(max), None) => {
            let kept = inherited.and_then(|keep| Marks::with_keep(max, keep));
            Ok(Some(kept.unwrap_or(Marks::of(max))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_is_four_fifths() {
        assert_eq!(Marks::of(20).keep(), 16);
        assert_eq!(Marks::of(1).keep(), 1);
        assert_eq!(Marks::of(u32::MAX).keep(), 3_435_973_836);
    }
}
