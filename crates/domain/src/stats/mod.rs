//! Statistics: utterances by role, by time and by tool, and what happened to them.

mod calendar;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;

pub use calendar::Bucket;
pub use tools::{ToolUse, Tools};

use crate::{Conversation, Role, Timestamp, Utterance, conversation::Status};

/// Utterances, their tokens, and turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Live utterances.
    pub utterances: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Turns, without turn 0.
    pub turns: u64,
}

/// A count, by itself and for each role in the order of [`Role::ALL`].
///
/// A role's turns are those in which it spoke, so they do not add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All roles together.
    pub all: Count,
    /// Each role.
    pub by_role: [Count; Role::ALL.len()],
}

/// What happened to utterances that left the window; hard-forgotten ones are in none of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evictions {
    /// Utterances that left the window.
    pub left: u64,
    /// Those of them that are archived.
    pub archived: u64,
    /// Those of them that are no longer stored.
    pub dropped: u64,
}

/// How summaries compress what they cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// Segments.
    pub segments: u64,
    /// Utterances that they cover.
    pub covered: u64,
    /// Tokens that these counted for in the window.
    pub source_tokens: u64,
    /// Tokens of the segments.
    pub summary_tokens: u64,
}

/// The numbers of one conversation, or of several together.
///
/// Call [`Stats::start`] for each conversation, then [`Stats::add`] for each of its stored utterances in
/// order.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// The spans of time by which utterances are counted.
    pub bucket: Bucket,
    /// Live stored utterances.
    pub counts: Counts,
    /// The same by the start of the span in which they were created. A turn belongs to the span in which its
    /// first stored utterance was created; for a role, that of the role's first utterance in the turn.
    pub spans: BTreeMap<Timestamp, Counts>,
    /// Soft-forgotten utterances that are stored.
    pub forgotten: u64,
    /// Tool results without a call.
    pub aside: u64,
    /// The tools that were called.
    pub tools: Tools,
    /// Utterances that left windows.
    pub evictions: Evictions,
    /// All summaries together.
    pub compression: Compression,
    /// Summaries by the level of their segments.
    pub levels: BTreeMap<u32, Compression>,
    /// Conversations by status.
    pub conversations: BTreeMap<Status, u64>,
    turns: LatestTurns,
}

/// The latest turns seen in a conversation: turns never go back.
#[derive(Clone, Copy, Debug, Default)]
struct LatestTurns {
    all: u32,
    by_role: [u32; Role::ALL.len()],
}

impl Stats {
    /// Empty statistics.
    pub fn by(bucket: Bucket) -> Self {
        Self { bucket, ..Self::default() }
    }

    /// Continues with another conversation, and counts its head and its summary.
    pub fn start(&mut self, conversation: &Conversation, status: Status) {
        self.turns = LatestTurns::default();
        self.tools.abandon();
        *self.conversations.entry(status).or_default() += 1;
        let head = &conversation.head;
        let (left, archived) = (head.left.count(), head.archived.count());
        self.evictions.left += left;
        self.evictions.archived += archived;
        self.evictions.dropped += left - archived;
        for segment in conversation.summary.segments() {
            let one = Compression {
                segments: 1,
                covered: segment.covers.count(),
                source_tokens: segment.source_tokens,
                summary_tokens: segment.tokens.into(),
            };
            self.compression.add(one);
            self.levels.entry(segment.level).or_default().add(one);
        }
    }

    /// Counts the next utterance of the conversation.
    pub fn add(&mut self, utterance: &Utterance) {
        self.forgotten += u64::from(utterance.forgotten);
        self.aside += u64::from(utterance.aside);
        if !utterance.is_live() {
            return;
        }
        let role = utterance.role as usize;
        let said = |is_new_turn: bool| Count {
            utterances: 1,
            tokens: utterance.tokens.into(),
            turns: is_new_turn.into(),
        };
        let all = said(is_new(&mut self.turns.all, utterance.turn));
        let of_role = said(is_new(&mut self.turns.by_role[role], utterance.turn));
        let span = self.spans.entry(self.bucket.start(utterance.create_time)).or_default();
        for counts in [&mut self.counts, span] {
            counts.all.add(all);
            counts.by_role[role].add(of_role);
        }
        self.tools.add(utterance);
    }
}

/// Whether `turn` counts and differs from the latest one.
fn is_new(latest: &mut u32, turn: u32) -> bool {
    let is_new = turn != *latest;
    *latest = turn;
    is_new && turn > 0
}

impl Count {
    fn add(&mut self, more: Self) {
        self.utterances += more.utterances;
        self.tokens += more.tokens;
        self.turns += more.turns;
    }
}

impl Compression {
    /// Source tokens for each token of summary; `None` when there is no summary.
    pub fn ratio(&self) -> Option<f64> {
        (self.summary_tokens > 0).then(|| self.source_tokens as f64 / self.summary_tokens as f64)
    }

    fn add(&mut self, more: Self) {
        self.segments += more.segments;
        self.covered += more.covered;
        self.source_tokens += more.source_tokens;
        self.summary_tokens += more.summary_tokens;
    }
}
