//! What happens to a summary when utterances leave the window, are forgotten or come back.

use std::sync::Arc;

use crate::{
    Ranges, Utterance,
    extractive::{Focus, select, summarise},
    limits::SEGMENT_FLOOR_TOKENS,
    segment::{
        chunk,
        llm_text::Awaits,
        rebuild::Rebuild,
        record::{Segment, budget},
        summary::Summary,
        summary_context::SummaryContext,
    },
};

impl Summary {
    /// Adds segments for the utterances that left the window, and folds as the limit demands.
    ///
    /// - A segment has at most [`SEGMENT_PERCENT`](crate::limits::SEGMENT_PERCENT) of its source's
    ///   tokens, or [`SEGMENT_FLOOR_TOKENS`] if that is more, and up to half of them if the limit leaves room
    ///   and nothing is being compacted; all added segments together have at most half the limit, unless more
    ///   is free.
    /// - It awaits a model if `with` has one and its source is larger than that floor.
    /// - Without evicted utterances, nothing changes.
    pub fn write(&self, evicted: &[Arc<Utterance>], focus: &[String], with: &SummaryContext<'_>) -> Self {
        if evicted.is_empty() {
            return self.clone();
        }
        let limit = with.limit();
        let room = (limit / 2).max(limit.saturating_sub(self.tokens()));
        let all = counted(evicted);
        let goes_on = goes_on(with);
        let mut rebuild = Rebuild::of(self);
        for piece in chunk::chunks(evicted) {
            let end = piece.end;
            let source = &evicted[piece];
            let source_tokens = counted(source);
            let share = u64::from(room) * source_tokens / all.max(1);
            let budget = rebuild.budget(source_tokens, with).min(u32::try_from(share).unwrap_or(room));
            let dwells = Focus::detect(source, focus).of_part(goes_on || end < evicted.len());
            let sentences = summarise(source, &dwells, budget, with.counter);
            let covers = source.iter().map(|utterance| utterance.sequence).collect();
            let mut segment = Segment::new(0, covers, sentences, source_tokens);
            segment.awaits = with
                .awaits
                .filter(|_| source_tokens > SEGMENT_FLOOR_TOKENS.into())
                .map(|since| Arc::new(Awaits { focus: focus.into(), ..Awaits::plain(since) }));
            rebuild.push(segment);
        }
        rebuild.fold(with);
        rebuild.done()
    }

    /// Folds as a lowered limit demands.
    pub fn fit(&self, with: &SummaryContext<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.fold(with);
        rebuild.done()
    }

    /// After a hard forget: removes sentences and coverage of `gone`, and any model's text made from them. A
    /// segment left without coverage is removed.
    pub fn erase(&self, gone: &Ranges, with: &SummaryContext<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let mut covers = segment.covers.clone();
            covers.subtract(gone);
            let (left, all) = (covers.count(), segment.covers.count());
            // The tokens of each source are no longer known: in proportion.
            let source_tokens = segment.source_tokens.saturating_mul(left) / all.max(1);
            let without = || segment.without(gone, with).awaiting(segment, with);
            (left < all || segment.llm_saw(gone)).then(|| Segment { covers, source_tokens, ..without() })
        });
        rebuild.fold(with);
        rebuild.done()
    }

    /// After a soft forget: removes the sentences of `forgotten`, and any model's text made from them; the
    /// coverage stays.
    pub fn silence(&self, forgotten: &Ranges, with: &SummaryContext<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let silenced = || segment.without(forgotten, with).awaiting(segment, with);
            segment.tells_of(forgotten).then(silenced)
        });
        rebuild.fold(with);
        rebuild.done()
    }

    /// After a restore or an edit: the segments that cover `restored` have newly chosen sentences of them,
    /// each within the budget of its source, and the limit holds. Models' texts made from their earlier
    /// content are removed.
    ///
    /// `restored` has whole units, in order, as they are now. Those that are forgotten give no sentences.
    pub fn restore(&self, restored: &[Arc<Utterance>], with: &SummaryContext<'_>) -> Self {
        let sequences: Ranges = restored.iter().map(|utterance| utterance.sequence).collect();
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let covered = restored.iter().filter(|utterance| segment.covers.contains(utterance.sequence));
            let back: Vec<Arc<Utterance>> = covered.cloned().collect();
            match back.is_empty() {
                false => Some(revive(segment, &back, with).awaiting(segment, with)),
                true => segment
                    .llm_saw(&sequences)
                    .then(|| segment.without(&Ranges::new(), with).awaiting(segment, with)),
            }
        });
        rebuild.fold(with);
        rebuild.done()
    }
}

/// Whether more was said than what is summarised.
fn goes_on(with: &SummaryContext<'_>) -> bool {
    with.window.is_none_or(|window| !window.is_empty())
}

/// The tokens that utterances count for in the window.
fn counted(utterances: &[Arc<Utterance>]) -> u64 {
    utterances.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum()
}

/// `segment` with sentences of `back` again.
fn revive(segment: &Segment, back: &[Arc<Utterance>], with: &SummaryContext<'_>) -> Segment {
    let gone = back.iter().map(|utterance| utterance.sequence).collect();
    // A source that was forgotten when the segment was written is not counted in its tokens.
    let budget = budget(segment.source_tokens.max(counted(back)));
    let mut sentences = segment.without(&gone, with).sentences;
    let within = Focus::none().of_part(true);
    sentences.extend(summarise(back, &within, budget, with.counter));
    sentences.sort_by_key(|sentence| (sentence.place(), sentence.sequence));
    if sentences.iter().map(|sentence| sentence.tokens).sum::<u32>() > budget {
        sentences = select(&sentences, &Focus::none(), budget, with.counter);
    }
    Segment::new(segment.level, segment.covers.clone(), sentences, segment.source_tokens)
}
