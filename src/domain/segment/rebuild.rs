//! Changes of a summary: segments replaced, folded, trimmed.

use std::sync::Arc;

use crate::domain::{
    extractive::{Focus, Sentence, select},
    limits::MAX_SEGMENTS,
    segment::{
        joined::Joined,
        record::Segment,
        summary::{Summary, total},
        summary_context::SummaryContext,
    },
};

/// A fold goes on until so many percent of the limit are used: so that the next evictions
/// fold nothing, and a rendered prompt keeps its head between folds.
const FOLD_PERCENT: u64 = 75;

/// A summary that is being changed. What is put into it gets a number of its own.
pub(super) struct Rebuild<'a> {
    before: &'a Summary,
    segments: Vec<Arc<Segment>>,
    next_number: u32,
}

impl<'a> Rebuild<'a> {
    pub(super) fn of(before: &'a Summary) -> Self {
        let segments = before.segments().to_vec();
        Self { before, segments, next_number: before.next_number() }
    }

    /// The changed summary; the same as before when nothing was put in.
    pub(super) fn done(self) -> Summary {
        match self.next_number == self.before.next_number() {
            true => self.before.clone(),
            false => Summary::numbered(self.segments, self.next_number),
        }
    }

    /// Adds the newest segment.
    pub(super) fn push(&mut self, segment: Segment) {
        let segment = self.numbered(segment);
        self.segments.push(segment);
    }

    /// Replaces each segment for which `change` gives another. One that covers nothing any
    /// more goes.
    pub(super) fn replace(&mut self, mut change: impl FnMut(&Segment) -> Option<Segment>) {
        for at in 0..self.segments.len() {
            if let Some(changed) = change(&self.segments[at]) {
                self.segments[at] = self.numbered(changed);
            }
        }
        self.segments.retain(|segment| !segment.covers.is_empty());
    }

    /// Merges old segments until there are at most [`MAX_SEGMENTS`], which loses nothing, and,
    /// when their tokens are over the limit, until [`FOLD_PERCENT`] of it are used.
    ///
    /// Merged are always the two oldest neighbours of equal level: so levels grow with the
    /// logarithm of what was said, and what is old has been thinned out most often. A merge
    /// drops at most half of the two.
    pub(super) fn fold(&mut self, with: &SummaryContext<'_>) {
        let limit = with.limit();
        while self.segments.len() > MAX_SEGMENTS {
            self.merge(|_| None, with);
        }
        if total(&self.segments) <= limit {
            return;
        }
        let target = u32::try_from(u64::from(limit) * FOLD_PERCENT / 100).unwrap_or(limit);
        loop {
            let excess = total(&self.segments).saturating_sub(target);
            match self.segments.len() {
                _ if excess == 0 => return,
                0 | 1 => return self.trim(target),
                _ => self.merge(|tokens| Some((tokens / 2).max(tokens.saturating_sub(excess))), with),
            }
        }
    }

    /// Merges one pair into a segment of the next level, within what `budget` makes of their
    /// tokens; `None` keeps all.
    fn merge(&mut self, budget: impl Fn(u32) -> Option<u32>, with: &SummaryContext<'_>) {
        let levels = self.segments.windows(2);
        let at = levels.into_iter().position(|pair| pair[0].level == pair[1].level).unwrap_or(0);
        let (Some(older), Some(newer)) = (self.segments.get(at), self.segments.get(at + 1)) else { return };
        let merged = match budget(older.tokens.saturating_add(newer.tokens)) {
            None => Joined::of(older, newer).whole(with),
            Some(budget) => Joined::of(older, newer).within(budget, with),
        };
        let merged = self.numbered(merged);
        self.segments.splice(at..at + 2, [merged]);
    }

    /// Cuts the only segment down to `budget` tokens. A model's text gives way to sentences.
    fn trim(&mut self, budget: u32) {
        self.replace(|segment| {
            let sentences: Vec<Sentence> = select(segment.sentences.clone(), &Focus::none(), budget);
            let covers = segment.covers.clone();
            let own = Segment::new(segment.level, covers, sentences, segment.source_tokens);
            Some(Segment { awaits: segment.awaits.clone(), ..own })
        });
    }

    fn numbered(&mut self, mut segment: Segment) -> Arc<Segment> {
        segment.number = self.next_number;
        self.next_number += 1;
        Arc::new(segment)
    }
}
