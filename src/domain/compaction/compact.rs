//! Compacting.

use std::{collections::HashSet, sync::Arc};

use crate::domain::{
    Conversation, Ranges, Refusal, Revision, Sequence, Transition, Utterance, Verdict,
    change::Context,
    compaction::{Cause, Compaction, Unable},
    limits::LEAST_COMPACTED_WINDOW,
    segment::SummaryContext,
};

/// A compaction to make.
#[derive(Clone, Debug)]
pub struct Compact {
    /// Utterances that stay in the window, at least; 1 or more.
    pub keep_recent: u32,
    /// Words that make a sentence matter more.
    pub focus: Vec<String>,
    /// Why.
    pub cause: Cause,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// A conversation that was compacted.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// What changed.
    pub transition: Transition,
    /// What was done.
    pub compaction: Arc<Compaction>,
}

/// Makes summary of all but the last utterances of the window.
///
/// The cut moves so that no unit is parted and at least `keep_recent` stay. Head instructions, pinned
/// units and an open exchange stay.
///
/// Refuses, and changes nothing, a window of fewer than [`LEAST_COMPACTED_WINDOW`] utterances, one of
/// which nothing may leave, one that would not become smaller, a policy without summaries, a conversation
/// that has ended, and another revision than the expected one.
pub fn compact(
    before: &Conversation,
    command: &Compact,
    context: &Context<'_>,
) -> Result<Verdict<Compacted>, Refusal> {
    before.expect(command.expected)?;
    before.check_open()?;
    let count = before.window.len();
    if !before.head.policy.summarization_enabled {
        return Err(Unable::SummariesDisabled.into());
    }
    if count < LEAST_COMPACTED_WINDOW {
        return Err(Unable::TooShortToCompact { count }.into());
    }
    let leaving = leaving(before, command.keep_recent as usize);
    if leaving.is_empty() {
        return Err(Unable::NothingToCompact { count, keep_recent: command.keep_recent }.into());
    }
    let mut transition = Transition::from(before, context.now);
    transition.leave(&leaving);
    transition.summarise(&leaving, &command.focus, true, context);
    let tokens = |state: &Conversation| state.window.tokens() + u64::from(state.summary.tokens());
    if tokens(&transition.after) >= tokens(before) {
        return Err(irreducible(before, &transition.after).into());
    }
    transition.record_compaction(before, &leaving, command.cause, Some(command.keep_recent));
    if let Err(need) = transition.shorten_archive(context) {
        return Ok(Verdict::Need(need));
    }
    let transition = transition.finish(&before.summary);
    let compaction = transition.change.compactions_written.iter().max_by_key(|compaction| compaction.number);
    match compaction.cloned() {
        Some(compaction) => Ok(Verdict::Decided(Compacted { transition, compaction })),
        None => Err(Unable::NothingToCompact { count, keep_recent: command.keep_recent }.into()),
    }
}

/// What leaves the window, ascending: whole units.
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
    /// Moves utterances of the window to the archive.
    pub(in crate::domain) fn leave(&mut self, leaving: &[Arc<Utterance>]) {
        let sequences: Ranges = leaving.iter().map(|utterance| utterance.sequence).collect();
        self.after.window.remove(&sequences);
        self.archive(leaving.to_vec(), &sequences);
    }

    /// Writes that the window was compacted: `leaving` are not in it any more.
    pub(in crate::domain) fn record_compaction(
        &mut self,
        before: &Conversation,
        leaving: &[Arc<Utterance>],
        cause: Cause,
        keep_recent: Option<u32>,
    ) {
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
            source_tokens: leaving.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum(),
            tokens_before: before.window.tokens() + u64::from(before.summary.tokens()),
            tokens_after,
            model: None,
            undone: None,
            folded: Some(folded.collect()),
        };
        self.add_compaction(compaction);
    }

    /// Makes summary of what left the window.
    pub(in crate::domain) fn summarise(
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
