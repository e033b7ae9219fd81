//! How full a window is, and other counts.

use std::collections::BTreeSet;

use utterd::domain::{
    capacity::{Capacity, OverLimit},
    compaction::Advice,
};

use super::{Conversation, policy::Marks};

const MINUTE: i64 = 60_000_000;

/// The contents of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measures {
    pub utterances: u32,
    pub tokens: u32,
    pub turns: u32,
}

impl Conversation {
    /// Slots, including forgotten ones; tokens and distinct turns from 1 of what is live.
    pub fn measures(&self) -> Measures {
        let (window, pairing) = (self.window(), self.pairing());
        let live: Vec<_> = window.iter().filter(|sequence| self.is_live(**sequence, &pairing)).collect();
        let turns: BTreeSet<u32> = live.iter().map(|sequence| self.get(**sequence).turn).collect();
        Measures {
            utterances: window.len() as u32,
            tokens: live.iter().map(|sequence| self.get(**sequence).tokens).sum(),
            turns: turns.iter().filter(|turn| **turn > 0).count() as u32,
        }
    }

    /// Whether a measure is above its mark.
    pub fn is_above(&self, mark: fn(Marks) -> u32) -> bool {
        let Measures { utterances, tokens, turns } = self.measures();
        let policy = &self.policy;
        [(policy.utterances, utterances), (policy.tokens, tokens), (policy.turns, turns)]
            .into_iter()
            .any(|(marks, value)| marks.is_some_and(|marks| value > mark(marks)))
    }

    /// Why the window is above a limit.
    pub fn over_limit(&self) -> Vec<OverLimit> {
        if !self.is_above(|marks| marks.max) {
            return Vec::new();
        }
        let window = self.window();
        let newest = match self.pairing().open.is_empty() {
            true => OverLimit::NewestUnit,
            false => OverLimit::OpenExchange,
        };
        let instructions = window.iter().any(|sequence| self.is_instruction(*sequence));
        let pinned = window.iter().any(|sequence| self.get(*sequence).pinned);
        let causes = [(true, newest), (instructions, OverLimit::Instructions), (pinned, OverLimit::Pinned)];
        causes.into_iter().filter(|(holds, _)| *holds).map(|(_, cause)| cause).collect()
    }

    /// Whether nothing was said for so long, and nobody awaits an answer; awaited ones are stale after 60 minutes.
    pub fn is_idle(&self, now: i64, timeout: i64) -> bool {
        let age = now - self.said_at;
        self.ended.is_none() && age >= timeout && (self.awaits.is_none() || age >= 60 * MINUTE)
    }

    /// The numbers of the window; those of the summary's text are up to the server.
    pub fn capacity(&self, shown: &Capacity) -> Capacity {
        let Measures { utterances, tokens, turns } = self.measures();
        let policy = &self.policy;
        let max = |marks: Option<Marks>| marks.map(|marks| marks.max);
        let keep = |marks: Option<Marks>| marks.map(Marks::keep);
        let forgotten = self.window().into_iter().filter(|sequence| self.get(*sequence).forgotten).count();
        Capacity {
            utterances: utterances.into(),
            forgotten: forgotten as u64,
            turns: turns.into(),
            tokens: tokens.into(),
            max_utterances: max(policy.utterances),
            max_tokens: max(policy.tokens),
            max_turns: max(policy.turns),
            keep_utterances: keep(policy.utterances),
            keep_tokens: keep(policy.tokens),
            keep_turns: keep(policy.turns),
            over_limit: self.over_limit(),
            archived: self.archive().len() as u64,
            summary_tokens: shown.summary_tokens,
            summary_limit: policy.summary_limit,
            segments: shown.segments,
            covered: self.covered.len() as u64,
            provisional: shown.provisional,
            advice: self.advice(utterances),
        }
    }

    /// At 50 utterances in the window, and every 10 more; nobody answers it.
    fn advice(&self, utterances: u32) -> Option<Advice> {
        let spaced = self.compacted_at.is_none_or(|at| self.said.len() - at >= 20);
        let may = self.pairing().open.is_empty() && self.ended.is_none() && self.policy.summarizes;
        (utterances >= 50 && may && spaced)
            .then(|| Advice { threshold: utterances / 10 * 10, utterances: utterances.into() })
    }
}
