//! Keeping a part of a summary.

use std::sync::Arc;

use crate::{
    Ranges, Utterance,
    extract::{Extract, Part, items},
    segment::{
        record::{Segment, budget},
        summary::Summary,
        summary_context::SummaryContext,
    },
};

/// A summary that covers less than the one it was cut from.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The remaining summary.
    pub summary: Summary,
    /// Whether a segment was cut whose sources are no longer stored: it keeps its sentences about what it
    /// still covers.
    pub approximate: bool,
}

impl Summary {
    /// The archived utterances, of which `stored` are available, that are needed to [`cut`](Self::cut) the
    /// summary to `kept`.
    pub fn sources_of_cut(&self, kept: &Ranges, stored: &Ranges) -> Ranges {
        let mut sources = Ranges::new();
        for segment in self.segments().iter().filter(|segment| !kept.holds(&segment.covers)) {
            let left = segment.covers.intersection(kept);
            if stored.holds(&left) {
                sources.union(&left);
            }
        }
        sources
    }

    /// The summary of `kept` alone.
    ///
    /// - A segment that covers nothing else is kept, except for a model's text that was also made from
    ///   something else; a segment that covers none of `kept` is removed.
    /// - Any other segment is made again from `sources`, the utterances that
    ///   [`sources_of_cut`](Self::sources_of_cut) names, in order. If some of them are missing, it keeps its
    ///   sentences about what it still covers, and the cut is approximate.
    pub fn cut(&self, kept: &Ranges, sources: &[Arc<Utterance>], with: &SummaryContext<'_>) -> Cut {
        let seen: Ranges = sources.iter().map(|utterance| utterance.sequence).collect();
        let mut approximate = false;
        let summary = self.replacing(with, |segment| {
            let left = segment.covers.intersection(kept);
            if left == segment.covers {
                let alone = segment.llm_saw_only(kept);
                return (!alone).then(|| segment.without_llm_text().awaiting(segment, with));
            }
            approximate |= !seen.holds(&left);
            Some(self.remade(segment, left, &seen, sources, with))
        });
        Cut { summary, approximate }
    }

    /// A segment that covers only `left` of what `segment` does: made again from `sources`, which are `seen`, or with the
    /// sentences that it keeps if some of them are missing.
    pub(super) fn remade(
        &self,
        segment: &Segment,
        left: Ranges,
        seen: &Ranges,
        sources: &[Arc<Utterance>],
        with: &SummaryContext<'_>,
    ) -> Segment {
        let part = self.part_of(segment, with);
        let made = if seen.holds(&left) {
            let own = sources.iter().filter(|utterance| left.contains(utterance.sequence));
            anew(segment, left.clone(), &own.cloned().collect::<Vec<_>>(), part, with)
        } else {
            remainder(segment, left, part, with)
        };
        made.awaiting(segment, with)
    }
}

/// A segment at the level of `segment`, made from its sources.
fn anew(
    segment: &Segment,
    covers: Ranges,
    source: &[Arc<Utterance>],
    part: Part,
    with: &SummaryContext<'_>,
) -> Segment {
    let tokens = source.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum();
    let blank = Segment::new(segment.level, covers, Extract::default(), tokens);
    blank.telling(items(source), budget(tokens), part, with)
}

/// What a segment tells of a part of what it covers.
fn remainder(segment: &Segment, covers: Ranges, part: Part, with: &SummaryContext<'_>) -> Segment {
    let mut gone = segment.covers.clone();
    gone.subtract(&covers);
    // the tokens of each source are no longer known: in proportion
    let source_tokens = segment.source_tokens.saturating_mul(covers.count()) / segment.covers.count().max(1);
    Segment { covers, source_tokens, ..segment.without(&gone, part, with) }
}
