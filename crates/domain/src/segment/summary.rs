//! All segments of a conversation.

use std::sync::Arc;

use crate::{
    Ranges, Sequence, Timestamp,
    extract::{Item, Line, Part},
    segment::{record::Segment, summary_context::SummaryContext},
};

/// A conversation's segments, oldest first.
///
/// - Every sequence that was written and not erased is covered by exactly one segment. Imported segments
///   cover none, and come first.
/// - The tokens never exceed the limit given to the last change, nor
///   [`MAX_SUMMARY_TOKENS`](crate::limits::MAX_SUMMARY_TOKENS).
/// - A clone costs one reference count.
#[derive(Clone, Debug)]
pub struct Summary {
    segments: Arc<[Arc<Segment>]>,
    tokens: u32,
    covered: u64,
    next_number: u32,
    awaits_since: Option<Timestamp>,
    provisional: usize,
    memory_bytes: usize,
}

impl PartialEq for Summary {
    fn eq(&self, other: &Self) -> bool {
        self.segments == other.segments
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self::numbered(Vec::new(), 1)
    }
}

impl Summary {
    /// Puts stored segments together again, in any order; `next_number` is for the next new one.
    pub fn numbered(mut segments: Vec<Arc<Segment>>, next_number: u32) -> Self {
        // Utterances that were erased, or left the window late, may have changed the order.
        let ends = |segment: &Segment| segment.imported.map(|imported| (imported.end, imported.start));
        segments.sort_by_key(|segment| (segment.covers.last(), ends(segment), segment.number));
        let tokens = total(&segments);
        let covered = segments.iter().map(|segment| segment.covers.count()).sum();
        let awaits = segments.iter().filter_map(|segment| segment.awaits.as_ref());
        let awaits_since = awaits.clone().map(|awaits| awaits.since).min();
        let provisional = awaits.count();
        let memory_bytes = segments.iter().map(|segment| segment.memory_bytes()).sum();
        let segments = segments.into();
        Self { segments, tokens, covered, next_number, awaits_since, provisional, memory_bytes }
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// The number that the next segment gets.
    pub fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Exact tokens of the text.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// The lines of all segments, one after another.
    pub fn text(&self) -> String {
        self.lines().map(|line| &*line.text).collect()
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> usize {
        self.lines().map(|line| line.text.len()).sum()
    }

    /// The lines of all segments.
    pub fn lines(&self) -> impl Iterator<Item = &Line> + Clone {
        self.segments.iter().flat_map(|segment| segment.lines())
    }

    /// What can be told without a model, oldest first.
    pub fn items(&self) -> Vec<Item> {
        self.segments.iter().flat_map(|segment| segment.items.iter().cloned()).collect()
    }

    /// Which part of the conversation a segment tells.
    pub(super) fn part_of(&self, segment: &Segment, with: &SummaryContext<'_>) -> Part {
        with.part(first_said(&self.segments) == Some(segment.number))
    }

    /// The segment that covers `sequence`.
    pub fn covering(&self, sequence: Sequence) -> Option<&Arc<Segment>> {
        self.segments.iter().find(|segment| segment.covers.contains(sequence))
    }

    /// All sequences that a segment covers.
    pub fn covers(&self) -> Ranges {
        let mut all = Ranges::new();
        self.segments.iter().for_each(|segment| all.union(&segment.covers));
        all
    }

    /// All sequences that its text is about, or may be about if a model wrote it.
    pub fn told(&self) -> Ranges {
        let mut all = Ranges::new();
        self.segments.iter().for_each(|segment| all.union(&segment.told()));
        all
    }

    /// The summary without the segments that cover nothing but what is `shown`.
    pub fn beyond(&self, shown: &Ranges) -> Self {
        let told = |segment: &&Arc<Segment>| !shown.holds(&segment.covers);
        Self::numbered(self.segments.iter().filter(told).cloned().collect(), self.next_number)
    }

    /// How many sequences the segments cover.
    pub fn covered_count(&self) -> u64 {
        self.covered
    }

    /// What a store has to do to get from `before`, an earlier state of the same summary, to this one.
    pub fn changed_from(&self, before: &Self) -> SegmentChanges {
        if Arc::ptr_eq(&self.segments, &before.segments) {
            return SegmentChanges::default();
        }
        let had = before.numbers();
        let has = self.numbers();
        let written = self.segments.iter().filter(|segment| had.binary_search(&segment.number).is_err());
        SegmentChanges {
            written: written.cloned().collect(),
            removed: had.into_iter().filter(|number| has.binary_search(number).is_err()).collect(),
        }
    }

    /// Since when the longest-waiting segment has been waiting for a model.
    pub fn awaits_since(&self) -> Option<Timestamp> {
        self.awaits_since
    }

    /// The approximate memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// How many segments wait for a model.
    pub fn provisional(&self) -> usize {
        self.provisional
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.segments.iter().map(|segment| segment.number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// What a change did to a summary's segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentChanges {
    /// New segments, oldest first.
    pub written: Vec<Arc<Segment>>,
    /// The numbers of segments that were removed or replaced, ascending.
    pub removed: Vec<u32>,
}

impl SegmentChanges {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }
}

/// The tokens of all `segments`.
pub(super) fn total(segments: &[Arc<Segment>]) -> u32 {
    segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.tokens))
}

/// The number of the first segment that was not imported: it tells how the conversation began.
pub(super) fn first_said(segments: &[Arc<Segment>]) -> Option<u32> {
    segments.iter().find(|segment| segment.imported.is_none()).map(|first| first.number)
}
