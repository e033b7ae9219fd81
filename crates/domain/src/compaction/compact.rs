//! Compacting a conversation.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Conversation, Ranges, Result, Revision, Sequence, Transition, Undecided, Utterance,
    change::Context,
    compaction::{Cause, Compaction, Unable},
    limits::LEAST_TO_COMPACT,
    segment::SummaryContext,
};

/// A compaction to make.
#[derive(Clone, Debug)]
pub struct Compact {
    /// Which utterances leave the window.
    pub extent: Extent,
    /// Whether what leaves is summarised; otherwise it is only archived.
    pub summarises: bool,
    /// Words that make a sentence more important.
    pub focus: Vec<String>,
    /// Why it is made.
    pub cause: Cause,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// Which utterances a compaction moves out of the window, in whole units. Head instructions, pinned units and
/// an open exchange stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All but at least this many of the newest utterances; 1 or more. The cut moves so that no unit is
    /// split.
    AllBut(u32),
    /// This many of the oldest utterances that can leave; 1 or more. The newest unit cannot leave. If the
    /// count ends inside a unit, the whole unit leaves.
    Oldest(u32),
}

/// A conversation that was compacted.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// What changed.
    pub transition: Transition,
    /// What was done.
    pub compaction: Arc<Compaction>,
}

/// Moves the oldest utterances of the window into the archive, and summarises them. `None`, without a change,
/// if none of the utterances in the window can leave it.
///
/// Refuses, and changes nothing, if fewer utterances than the count can leave the window; if a summary is
/// wanted but the policy disables summaries; if the conversation has ended; and if the revision is not the
/// expected one. Without a count, it also refuses a conversation that has fewer than [`LEAST_TO_COMPACT`]
/// [uncompacted utterances](Conversation::uncompacted), and one that would not become smaller.
pub fn compact(
    before: &Conversation,
    command: &Compact,
    context: &Context<'_>,
) -> Result<Option<Compacted>, Undecided> {
    before.expect(command.expected)?;
    before.check_open()?;
    if command.summarises && !before.head.policy.summarization_enabled {
        return Err(Unable::SummariesDisabled.into());
    }
    let leaving = match command.extent {
        Extent::AllBut(keep_recent) => all_but(before, keep_recent)?,
        Extent::Oldest(count) => oldest(before, count)?,
    };
    if leaving.is_empty() {
        return Ok(None);
    }
    let mut transition = Transition::from(before, context.now);
    transition.leave(&leaving);
    if command.summarises {
        transition.summarise(&leaving, &command.focus, true, context);
    }
    let tokens = |state: &Conversation| state.window.tokens() + u64::from(state.summary.tokens());
    let keep_recent = match command.extent {
        Extent::AllBut(_) if tokens(&transition.after) >= tokens(before) => {
            return Err(irreducible(before, &transition.after).into());
        }
        Extent::AllBut(keep_recent) => Some(keep_recent),
        Extent::Oldest(_) => None,
    };
    let compaction =
        transition.record_compaction(before, &leaving, command.cause, keep_recent, command.summarises);
    transition.shorten_archive(context)?;
    let transition = transition.finish(&before.summary);
    Ok(Some(Compacted { transition, compaction }))
}

/// The utterances that leave for [`Extent::AllBut`], ascending, in whole units.
fn all_but(before: &Conversation, keep_recent: u32) -> Result<Vec<Arc<Utterance>>, Unable> {
    match before.uncompacted() {
        count if count < LEAST_TO_COMPACT => Err(Unable::TooShortToCompact { count }),
        _ => Ok(leaving(before, keep_recent as usize)),
    }
}

impl Conversation {
    /// The number of stored utterances, in the window and the archive, that no listed compaction moved,
    /// unless it was undone. Evicted utterances count: a rolling window alone never holds many.
    pub fn uncompacted(&self) -> u64 {
        let mut evicted = (*self.head.archived).clone();
        let standing = self.compactions.iter().filter(|compaction| compaction.undone.is_none());
        standing.for_each(|compaction| evicted.subtract(&compaction.compacted));
        self.window.len() as u64 + evicted.count()
    }
}

/// The utterances that leave for [`Extent::Oldest`], ascending, in whole units.
fn oldest(before: &Conversation, count: u32) -> Result<Vec<Arc<Utterance>>, Unable> {
    let free = leaving(before, 1);
    if free.len() < count as usize {
        return Err(Unable::FewerToCompact { count, free: free.len() });
    }
    let units: HashSet<Sequence> = free.iter().take(count as usize).map(|utterance| utterance.unit).collect();
    Ok(free.into_iter().filter(|utterance| units.contains(&utterance.unit)).collect())
}

/// The utterances that can leave the window if this many of the newest stay, ascending, in whole units.
fn leaving(before: &Conversation, keep_recent: usize) -> Vec<Arc<Utterance>> {
    let window = &before.window;
    let cut = window.len().saturating_sub(keep_recent);
    let kept = window.slice(cut..window.len()).map(|utterance| utterance.unit);
    let open = before.head.open.as_ref().map(|open| open.unit);
    let mut staying: HashSet<Sequence> = kept.chain(open).collect();
    let held = |utterance: &&Arc<Utterance>| utterance.pinned || utterance.instruction;
    staying.extend(window.slice(0..cut).filter(held).map(|utterance| utterance.unit));
    window.slice(0..cut).filter(|utterance| !staying.contains(&utterance.unit)).cloned().collect()
}

fn irreducible(before: &Conversation, after: &Conversation) -> Unable {
    let tokens = before.window.tokens() + u64::from(before.summary.tokens());
    let largest = after.window.iter().max_by_key(|utterance| utterance.counted_tokens());
    Unable::Irreducible {
        tokens,
        largest: largest.map_or(0, |utterance| utterance.counted_tokens()),
        sequence: largest.map_or(Sequence(0), |utterance| utterance.sequence),
    }
}

impl Transition {
    /// Moves utterances from the window to the archive.
    pub(crate) fn leave(&mut self, leaving: &[Arc<Utterance>]) {
        let sequences: Ranges = leaving.iter().map(|utterance| utterance.sequence).collect();
        self.after.window.remove(&sequences);
        self.archive(leaving.to_vec(), &sequences);
    }

    /// Records that the window was compacted: `leaving` are no longer in it.
    pub(crate) fn record_compaction(
        &mut self,
        before: &Conversation,
        leaving: &[Arc<Utterance>],
        cause: Cause,
        keep_recent: Option<u32>,
        summarises: bool,
    ) -> Arc<Compaction> {
        let had = before.summary.segments();
        let has = |number| self.after.summary.segments().iter().any(|segment| segment.number == number);
        let said = had.iter().filter(|segment| segment.imported.is_none());
        let folded = said.filter(|segment| !has(segment.number)).cloned();
        let tokens_after = self.after.window.tokens() + u64::from(self.after.summary.tokens());
        let compaction = Compaction {
            number: self.after.head.next_compaction,
            revision: self.after.head.revision,
            time: self.after.head.update_time,
            cause,
            compacted: leaving.iter().map(|utterance| utterance.sequence).collect(),
            count: leaving.len() as u64,
            kept: self.after.window.len() as u64,
            keep_recent,
            summarised: summarises && before.head.policy.summarization_enabled,
            source_tokens: leaving.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum(),
            tokens_before: before.window.tokens() + u64::from(before.summary.tokens()),
            tokens_after,
            model: None,
            undone: None,
            folded: Some(folded.collect()),
        };
        self.add_compaction(compaction)
    }

    /// Summarises the utterances that left the window.
    pub(crate) fn summarise(
        &mut self,
        left: &[Arc<Utterance>],
        focus: &[String],
        compacts: bool,
        context: &Context<'_>,
    ) {
        let policy = &self.after.head.policy;
        if policy.summarization_enabled {
            let window = Some(&self.after.window);
            let with = SummaryContext { window, compacts, ..context.summary_context(policy) };
            self.after.summary = self.after.summary.write(left, focus, &with);
        }
    }
}
