//! Taking over a part of a summary.

use std::sync::Arc;

use crate::domain::{
    Ranges, Utterance,
    extractive::{Focus, summarise},
    segment::{
        rebuild::Rebuild,
        record::{Segment, budget},
        summary::Summary,
        summary_context::SummaryContext,
    },
};

/// A summary that covers less than the one it comes from.
#[derive(Clone, Debug)]
pub struct Cut {
    /// What is left.
    pub summary: Summary,
    /// A segment was cut whose sources are not stored any more: it keeps those of its sentences that
    /// are of what it still covers.
    pub approximate: bool,
}

impl Summary {
    /// What has to be seen of the archive, of which `stored` is there, to [`cut`](Self::cut) the
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
    /// - A segment that covers nothing else stays as it is, but for a model's text that was made from
    ///   something else too; one that covers nothing of it goes.
    /// - Any other is made anew from `sources`, which are what [`sources_of_cut`](Self::sources_of_cut)
    ///   names, in order; where these do not hold all that it still covers, it keeps its sentences of
    ///   that, and the cut is approximate.
    pub fn cut(&self, kept: &Ranges, sources: &[Arc<Utterance>], with: &SummaryContext<'_>) -> Cut {
        let seen: Ranges = sources.iter().map(|utterance| utterance.sequence).collect();
        let mut approximate = false;
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let left = segment.covers.intersection(kept);
            if left == segment.covers {
                let alone = segment.llm_saw_only(kept);
                return (!alone).then(|| segment.without(&Ranges::new(), with).awaiting(segment, with));
            }
            if !seen.holds(&left) {
                approximate = true;
                return Some(remainder(segment, left, with).awaiting(segment, with));
            }
            let own = sources.iter().filter(|utterance| left.contains(utterance.sequence));
            Some(anew(segment.level, left.clone(), own.cloned().collect(), with).awaiting(segment, with))
        });
        rebuild.fold(with);
        Cut { summary: rebuild.done(), approximate }
    }
}

/// A segment made of its sources.
pub(super) fn anew(
    level: u32,
    covers: Ranges,
    source: Vec<Arc<Utterance>>,
    with: &SummaryContext<'_>,
) -> Segment {
    let tokens = source.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum();
    let sentences = summarise(&source, &Focus::none(), budget(tokens), with.counter);
    Segment::new(level, covers, sentences, tokens)
}

/// What a segment tells of some of what it covers.
pub(super) fn remainder(segment: &Segment, covers: Ranges, with: &SummaryContext<'_>) -> Segment {
    let gone = |sequence| !covers.contains(sequence);
    let sentences = segment.sentences.iter().filter_map(|line| line.without(gone, with.counter)).collect();
    // what each source counted is not known any more: in proportion
    let share = segment.source_tokens.saturating_mul(covers.count()) / segment.covers.count().max(1);
    Segment::new(segment.level, covers.clone(), sentences, share)
}
