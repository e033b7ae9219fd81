//! Undoing what a compaction did to a summary.

use std::sync::Arc;

use crate::{
    Ranges, Utterance,
    segment::{rebuild::Rebuild, record::Segment, summary::Summary, summary_context::SummaryContext},
};

impl Summary {
    /// The archived utterances, of which `stored` are available, that are needed to [`unfold`](Self::unfold).
    pub fn sources_of_unfold(&self, compacted: &Ranges, folded: &[Arc<Segment>], stored: &Ranges) -> Ranges {
        let rest = self.rest(compacted, folded);
        let mut sources = Ranges::new();
        for segment in self.changed(compacted, folded) {
            let left = segment.covers.intersection(&rest);
            if stored.holds(&left) {
                sources.union(&left);
            }
        }
        sources
    }

    /// The summary without `compacted`, which are in the window again.
    ///
    /// - `folded` are the segments that the compaction folded, kept up to date: they are put back.
    /// - Segments that cover none of these sequences are kept.
    /// - The rest is made again from `sources`, the utterances that
    ///   [`sources_of_unfold`](Self::sources_of_unfold) names, or keeps its sentences.
    pub fn unfold(
        &self,
        compacted: &Ranges,
        folded: &[Arc<Segment>],
        sources: &[Arc<Utterance>],
        with: &SummaryContext<'_>,
    ) -> Self {
        let rest = self.rest(compacted, folded);
        let seen: Ranges = sources.iter().map(|utterance| utterance.sequence).collect();
        let fitting: Vec<_> = self.fitting(compacted, folded).cloned().collect();
        let made = made(compacted, folded);
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            if !segment.covers.meets(&made) {
                return None;
            }
            let left = segment.covers.intersection(&rest);
            Some(self.remade(segment, left, &seen, sources, with))
        });
        fitting.iter().for_each(|segment| rebuild.push((**segment).clone()));
        rebuild.fold(with);
        rebuild.done()
    }

    /// The segments that the compaction made: those that cover some of `compacted`, or of what `folded`
    /// covers.
    fn changed(&self, compacted: &Ranges, folded: &[Arc<Segment>]) -> impl Iterator<Item = &Arc<Segment>> {
        let made = made(compacted, folded);
        self.segments().iter().filter(move |segment| segment.covers.meets(&made))
    }

    /// What these segments cover besides `compacted`.
    fn uncompacted(&self, compacted: &Ranges, folded: &[Arc<Segment>]) -> Ranges {
        let mut uncompacted = Ranges::new();
        self.changed(compacted, folded).for_each(|segment| uncompacted.union(&segment.covers));
        uncompacted.subtract(compacted);
        uncompacted
    }

    fn fitting<'a>(
        &self,
        compacted: &Ranges,
        folded: &'a [Arc<Segment>],
    ) -> impl Iterator<Item = &'a Arc<Segment>> {
        let uncompacted = self.uncompacted(compacted, folded);
        folded.iter().filter(move |segment| !segment.covers.is_empty() && uncompacted.holds(&segment.covers))
    }

    fn rest(&self, compacted: &Ranges, folded: &[Arc<Segment>]) -> Ranges {
        let mut rest = self.uncompacted(compacted, folded);
        self.fitting(compacted, folded).for_each(|segment| rest.subtract(&segment.covers));
        rest
    }
}

/// The sequences for which a compaction made other segments.
fn made(compacted: &Ranges, folded: &[Arc<Segment>]) -> Ranges {
    let mut made = compacted.clone();
    folded.iter().for_each(|segment| made.union(&segment.covers));
    made
}
