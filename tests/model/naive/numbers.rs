//! How full a window is, and other counts.

use std::collections::BTreeSet;

use utterd::proto::{
    Capacity, CompactionAdvice, ConversationStatus, GetSummaryResponse, OverLimitCause, SummaryCapacity,
};

use super::{Conversation, policy::Marks};

const MINUTE: i64 = 60_000_000;

/// The contents of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measures {
    pub utterances: i32,
    pub tokens: i32,
    pub turns: i32,
}

impl Conversation {
    /// Slots, including forgotten ones; tokens and distinct turns from 1 of what is live.
    pub fn measures(&self) -> Measures {
        let (window, pairing) = (self.window(), self.pairing());
        let live: Vec<_> = window.iter().filter(|sequence| self.is_live(**sequence, &pairing)).collect();
        let turns: BTreeSet<i32> = live.iter().map(|sequence| self.get(**sequence).turn).collect();
        Measures {
            utterances: window.len() as i32,
            tokens: live.iter().map(|sequence| self.get(**sequence).tokens).sum(),
            turns: turns.iter().filter(|turn| **turn > 0).count() as i32,
        }
    }

    /// Whether a measure is above its mark.
    pub fn is_above(&self, mark: fn(Marks) -> i32) -> bool {
        let Measures { utterances, tokens, turns } = self.measures();
        let policy = &self.policy;
        [(policy.utterances, utterances), (policy.tokens, tokens), (policy.turns, turns)]
            .into_iter()
            .any(|(marks, value)| marks.is_some_and(|marks| value > mark(marks)))
    }

    /// Why the window is above a limit.
    pub fn over_limit(&self) -> Vec<OverLimitCause> {
        if !self.is_above(|marks| marks.max) {
            return Vec::new();
        }
        let window = self.window();
        let newest = match self.pairing().open.is_empty() {
            true => OverLimitCause::NewestUnit,
            false => OverLimitCause::OpenExchange,
        };
        let instructions = window.iter().any(|sequence| self.is_instruction(*sequence));
        let pinned = window.iter().any(|sequence| self.get(*sequence).pinned);
        let causes =
            [(true, newest), (instructions, OverLimitCause::Instructions), (pinned, OverLimitCause::Pinned)];
        causes.into_iter().filter(|(holds, _)| *holds).map(|(_, cause)| cause).collect()
    }

    /// Awaited answers are stale after 60 minutes; a conversation is idle after 30.
    pub fn status(&self, now: i64) -> ConversationStatus {
        match now - self.said_at {
            _ if self.ended.is_some() => ConversationStatus::Closed,
            age if self.awaits.is_some() && age < 60 * MINUTE => ConversationStatus::AwaitingAnswer,
            age if age < 30 * MINUTE => ConversationStatus::Active,
            _ => ConversationStatus::Idle,
        }
    }

    /// The numbers of the window, and those of the summary as it was last read.
    pub fn capacity(&self, summary: &GetSummaryResponse, now: i64) -> Capacity {
        let Measures { utterances, tokens, turns } = self.measures();
        let policy = &self.policy;
        let max = |marks: Option<Marks>| marks.map(|marks| marks.max);
        let keep = |marks: Option<Marks>| marks.map(Marks::keep);
        let left = |marks: Option<Marks>, used: i32| max(marks).map(|max| (max - used).max(0));
        let forgotten = self.window().into_iter().filter(|sequence| self.get(*sequence).forgotten).count();
        let over_limit = self.over_limit();
        let summary_tokens = summary.token_count.unwrap_or(0);
        Capacity {
            conversation_id: self.id.clone(),
            recipient_id: self.recipient.clone(),
            revision: self.revision,
            status: self.status(now).into(),
            utterance_count: Some(utterances),
            soft_deleted_count: Some(forgotten as i32),
            live_utterance_count: Some(utterances - forgotten as i32),
            turn_count: Some(turns),
            token_count: Some(tokens),
            max_utterances: max(policy.utterances),
            max_tokens: max(policy.tokens),
            max_turns: max(policy.turns),
            keep_utterances: keep(policy.utterances),
            keep_tokens: keep(policy.tokens),
            keep_turns: keep(policy.turns),
            available_utterances: left(policy.utterances, utterances),
            available_tokens: left(policy.tokens, tokens),
            over_limit: Some(!over_limit.is_empty()),
            over_limit_causes: over_limit.into_iter().map(i32::from).collect(),
            archived_utterance_count: Some(self.archive().len() as i32),
            summary: Some(SummaryCapacity {
                token_count: Some(summary_tokens),
                token_limit: policy.summary_limit,
                segment_count: Some(summary.segments.len() as i32),
                covered_utterance_count: Some(self.covered.len() as i32),
                provisional_segment_count: Some(0),
            }),
            total_token_count: Some(tokens + summary_tokens),
            compaction_advice: self.advice(utterances),
        }
    }

    /// At 50 utterances in the window, and every 10 more; nobody answers it.
    fn advice(&self, utterances: i32) -> Option<CompactionAdvice> {
        let spaced = self.compacted_at.is_none_or(|at| self.said.len() - at >= 20);
        let may = self.pairing().open.is_empty() && self.ended.is_none() && self.policy.summarizes;
        (utterances >= 50 && may && spaced).then(|| CompactionAdvice {
            threshold: Some(utterances / 10 * 10),
            utterance_count: Some(utterances),
            keep_recent: Some(15),
        })
    }
}
