//! What happens to a summary when utterances leave the window, are forgotten or come back.

use std::sync::Arc;

use crate::{
    Ranges, Utterance,
    extract::{Extract, Part, Wanted, extract, items},
    limits::SEGMENT_FLOOR_TOKENS,
    segment::{
        llm_text::Awaits,
        rebuild::Rebuild,
        record::{Segment, budget},
        summary::Summary,
        summary_context::SummaryContext,
    },
};

impl Summary {
    /// Adds a segment for the utterances that left the window, and folds as the limit demands.
    ///
    /// - It has at most [`SEGMENT_PERCENT`](crate::limits::SEGMENT_PERCENT) of its source's
    ///   tokens, or [`SEGMENT_FLOOR_TOKENS`] if that is more, and up to three quarters of them if the limit leaves room
    ///   and nothing is being compacted; at most half the limit, unless more is free.
    /// - It awaits a model if `with` has one and its source is larger than that floor.
    /// - Without evicted utterances, nothing changes.
    pub fn write(&self, evicted: &[Arc<Utterance>], focus: &[String], with: &SummaryContext<'_>) -> Self {
        if evicted.is_empty() {
            return self.clone();
        }
        let limit = with.limit();
        let room = (limit / 2).max(limit.saturating_sub(self.tokens()));
        let source_tokens = counted(evicted);
        let mut rebuild = Rebuild::of(self);
        let budget = rebuild.budget(source_tokens, with).min(room);
        let begins = self.segments().iter().all(|segment| segment.imported.is_some());
        let wanted = Wanted { budget, part: with.part(begins), focus: focus.to_vec() };
        let items = items(evicted);
        // what is folded at once need not be told by itself first
        let folds =
            with.awaits.is_none() && rebuild.is_plain() && self.tokens().saturating_add(budget) > limit;
        let told = match folds {
            true => Extract { items, lines: Vec::new() },
            false => extract(items, &wanted, with.kept(source_tokens), with.counter),
        };
        let covers = evicted.iter().map(|utterance| utterance.sequence).collect();
        let mut segment = Segment::new(0, covers, told, source_tokens);
        segment.awaits = with
            .awaits
            .filter(|_| source_tokens > SEGMENT_FLOOR_TOKENS.into())
            .map(|since| Arc::new(Awaits { focus: focus.into(), ..Awaits::plain(since) }));
        rebuild.push(segment);
        if folds {
            rebuild.fold_plain(with);
        }
        rebuild.fold(with);
        rebuild.done()
    }

    /// Folds as a lowered limit demands.
    pub fn fit(&self, with: &SummaryContext<'_>) -> Self {
        self.replacing(with, |_| None)
    }

    /// After a hard forget: removes what is told of `gone`, its coverage, and any model's text made from it. A
    /// segment left without coverage is removed.
    pub fn erase(&self, gone: &Ranges, with: &SummaryContext<'_>) -> Self {
        self.replacing(with, |segment| {
            let mut covers = segment.covers.clone();
            covers.subtract(gone);
            let (left, all) = (covers.count(), segment.covers.count());
            // The tokens of each source are no longer known: in proportion.
            let source_tokens = segment.source_tokens.saturating_mul(left) / all.max(1);
            let without = || segment.without(gone, self.part_of(segment, with), with).awaiting(segment, with);
            (left < all || segment.llm_saw(gone)).then(|| Segment { covers, source_tokens, ..without() })
        })
    }

    /// After a soft forget: removes what is told of `forgotten`, and any model's text made from it; the
    /// coverage stays.
    pub fn silence(&self, forgotten: &Ranges, with: &SummaryContext<'_>) -> Self {
        self.replacing(with, |segment| {
            let silenced =
                || segment.without(forgotten, self.part_of(segment, with), with).awaiting(segment, with);
            segment.tells_of(forgotten).then(silenced)
        })
    }

    /// After a restore or an edit: the segments that cover `restored` have newly chosen lines about them,
    /// each within the budget of its source, and the limit holds. Models' texts made from their earlier
    /// content are removed.
    ///
    /// `restored` has whole units, in order, as they are now. Those that are forgotten say nothing.
    pub fn restore(&self, restored: &[Arc<Utterance>], with: &SummaryContext<'_>) -> Self {
        let sequences: Ranges = restored.iter().map(|utterance| utterance.sequence).collect();
        self.replacing(with, |segment| {
            let covered = restored.iter().filter(|utterance| segment.covers.contains(utterance.sequence));
            let back: Vec<Arc<Utterance>> = covered.cloned().collect();
            match back.is_empty() {
                false => {
                    Some(revive(segment, &back, self.part_of(segment, with), with).awaiting(segment, with))
                }
                true => {
                    segment.llm_saw(&sequences).then(|| segment.without_llm_text().awaiting(segment, with))
                }
            }
        })
    }
}

/// The tokens that utterances count for in the window.
fn counted(utterances: &[Arc<Utterance>]) -> u64 {
    utterances.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum()
}

/// `segment` with what `back` says again.
fn revive(segment: &Segment, back: &[Arc<Utterance>], part: Part, with: &SummaryContext<'_>) -> Segment {
    let again: Ranges = back.iter().map(|utterance| utterance.sequence).collect();
    // A source that was forgotten when the segment was written is not counted in its tokens.
    let budget = budget(segment.source_tokens.max(counted(back)));
    let mut all = segment.items_without(&again);
    all.extend(items(back));
    segment.telling(all, budget, part, with)
}
