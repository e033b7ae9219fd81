//! Changes to a summary: segments replaced, folded, trimmed.

use std::{ops::Range, sync::Arc};

use crate::{
    limits::MAX_SEGMENTS,
    segment::{
        joined::Joined,
        record::{Segment, budget},
        summary::{Summary, first_said, total},
        summary_context::SummaryContext,
    },
};

/// If a model rewrites what was folded, a fold goes on until this percentage of the limit is used, because its calls
/// cost.
const FOLD_PERCENT_OF_MODELS: u64 = 75;
/// A new segment's tokens, in percent of its source, if the limit leaves room.
const GENEROUS_PERCENT: u64 = 75;

/// A summary that is being changed. Each segment put into it gets a new number.
pub(super) struct Rebuild<'a> {
    before: &'a Summary,
    segments: Vec<Arc<Segment>>,
    next_number: u32,
}

impl Summary {
    /// The summary with other segments in place of those for which `change` returns one, folded as the limit demands.
    pub(super) fn replacing(
        &self,
        with: &SummaryContext<'_>,
        change: impl FnMut(&Segment) -> Option<Segment>,
    ) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(change);
        rebuild.fold(with);
        rebuild.done()
    }
}

impl<'a> Rebuild<'a> {
    pub(super) fn of(before: &'a Summary) -> Self {
        let segments = before.segments().to_vec();
        Self { before, segments, next_number: before.next_number() }
    }

    /// The changed summary; the same as before if nothing was put in.
    pub(super) fn done(self) -> Summary {
        match self.next_number == self.before.next_number() {
            true => self.before.clone(),
            false => Summary::numbered(self.segments, self.next_number),
        }
    }

    /// The tokens that a segment may have for a source of `source_tokens`: more if the limit leaves room,
    /// unless the conversation is to become short.
    pub(super) fn budget(&self, source_tokens: u64, with: &SummaryContext<'_>) -> u32 {
        let generous = source_tokens.saturating_mul(GENEROUS_PERCENT) / 100;
        let generous = u32::try_from(generous).unwrap_or(u32::MAX);
        let has_room = total(&self.segments).saturating_add(generous) <= with.limit();
        if has_room && !with.compacts { generous.max(budget(source_tokens)) } else { budget(source_tokens) }
    }

    /// Adds the newest segment.
    pub(super) fn push(&mut self, segment: Segment) {
        let segment = self.numbered(segment);
        self.segments.push(segment);
    }

    /// Adds the oldest segments.
    pub(super) fn begin_with(&mut self, segments: Vec<Segment>) {
        let segments: Vec<_> = segments.into_iter().map(|segment| self.numbered(segment)).collect();
        self.segments.splice(0..0, segments);
    }

    /// Replaces each segment for which `change` returns another. A segment that no longer stands for anything
    /// is removed.
    pub(super) fn replace(&mut self, mut change: impl FnMut(&Segment) -> Option<Segment>) {
        for at in 0..self.segments.len() {
            if let Some(changed) = change(&self.segments[at]) {
                self.segments[at] = self.numbered(changed);
            }
        }
        self.segments.retain(|segment| segment.stands());
    }

    /// Merges old segments until there are at most [`MAX_SEGMENTS`], which loses nothing, and, if their
    /// tokens are over the limit, until they are within it.
    ///
    /// If no model writes any of it, all segments that were not imported are merged, and what is told is
    /// chosen again from all that they kept. Otherwise the two oldest neighbours of
    /// equal level are merged, so that models rewrite a little at a time; such a merge drops at most half of
    /// the two. Imported segments are merged separately from the others.
    pub(super) fn fold(&mut self, with: &SummaryContext<'_>) {
        let limit = with.limit();
        while self.segments.len() > MAX_SEGMENTS {
            let Some(pair) = self.pair() else { break };
            self.merge(pair, |_| None, with);
        }
        if total(&self.segments) <= limit {
            return;
        }
        let percent = if with.awaits.is_some() { FOLD_PERCENT_OF_MODELS } else { 100 };
        let target = u32::try_from(u64::from(limit) * percent / 100).unwrap_or(limit);
        loop {
            let excess = total(&self.segments).saturating_sub(target);
            if excess == 0 {
                return;
            }
            let without_excess = |tokens: u32| tokens.saturating_sub(excess);
            match (self.plain(), self.pair()) {
                (Some(plain), _) => self.merge(plain, |tokens| Some(without_excess(tokens)), with),
                (None, Some(pair)) => {
                    self.merge(pair, |tokens| Some(without_excess(tokens).max(tokens / 2)), with);
                }
                (None, None) => return self.trim(target, with),
            }
        }
    }

    /// Whether the summary so far can only be folded as a whole: it has what was said here, and no model writes it.
    pub(super) fn is_plain(&self) -> bool {
        self.unwritten().is_some_and(|said| !said.is_empty())
    }

    /// Merges all segments that no model writes, within what the limit leaves them.
    pub(super) fn fold_plain(&mut self, with: &SummaryContext<'_>) {
        if let Some(plain) = self.plain() {
            let others = total(&self.segments[..plain.start]);
            self.merge(plain, |_| Some(with.limit().saturating_sub(others)), with);
        }
    }

    /// The pair to merge next; `None` if there is none left to merge.
    fn pair(&self) -> Option<Range<usize>> {
        let fit = |pair: &&[Arc<Segment>]| pair[0].imported.is_some() == pair[1].imported.is_some();
        let pairs = || self.segments.windows(2).enumerate().filter(|(_, pair)| fit(pair));
        let level = pairs().find(|(_, pair)| pair[0].level == pair[1].level);
        level.or_else(|| pairs().next()).map(|(at, _)| at..at + 2)
    }

    /// All segments that are not imported, if they are several and no model writes any of them.
    fn plain(&self) -> Option<Range<usize>> {
        self.unwritten().filter(|said| said.len() > 1)
    }

    /// All segments that are not imported, if no model has written any of them or is awaited.
    fn unwritten(&self) -> Option<Range<usize>> {
        let start = self.segments.partition_point(|segment| segment.imported.is_some());
        let mut said = self.segments[start..].iter();
        let unwritten = said.all(|segment| segment.llm_text.is_none() && segment.awaits.is_none());
        unwritten.then_some(start..self.segments.len())
    }

    /// Merges neighbours into a segment of the next level, within what `budget` returns for their tokens;
    /// `None` keeps everything.
    fn merge(&mut self, range: Range<usize>, budget: impl Fn(u32) -> Option<u32>, with: &SummaryContext<'_>) {
        let Some(segments) = self.segments.get(range.clone()) else { return };
        let merged = match budget(total(segments)) {
            None => Joined(segments).whole(with),
            Some(budget) => {
                let begins = !self.segments[..range.start].iter().any(|older| older.imported.is_none());
                Joined(segments).within(budget, with.part(begins), with)
            }
        };
        let merged = self.numbered(merged);
        self.segments.splice(range, [merged]);
    }

    /// Cuts the remaining segments down to `budget` tokens, each in proportion. A model's text is replaced by
    /// the segment's own lines.
    fn trim(&mut self, budget: u32, with: &SummaryContext<'_>) {
        let all = u64::from(total(&self.segments)).max(1);
        let first = first_said(&self.segments);
        self.replace(|segment| {
            let share = u64::from(budget) * u64::from(segment.tokens) / all;
            let share = u32::try_from(share).unwrap_or(budget);
            let own =
                segment.telling(segment.items.clone(), share, with.part(first == Some(segment.number)), with);
            Some(Segment { awaits: segment.awaits.clone(), ..own })
        });
    }

    fn numbered(&mut self, mut segment: Segment) -> Arc<Segment> {
        segment.number = self.next_number;
        self.next_number += 1;
        Arc::new(segment)
    }
}
