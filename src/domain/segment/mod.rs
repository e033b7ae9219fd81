//! Segments: what left the window, in sentences, and which sequences each covers.

mod chunk;
mod cut;
mod joined;
mod means;
mod rebuild;
mod retold;
#[cfg(test)]
mod tests;
mod unfold;

use std::sync::Arc;

use crate::domain::{
    Ranges, Sequence, Timestamp, Utterance,
    extractive::{Focus, Sentence, select, summarise},
    limits::{SEGMENT_FLOOR_TOKENS, SEGMENT_PERCENT},
    segment::rebuild::{Rebuild, total},
};

pub use cut::Cut;
pub use means::Means;
pub use retold::{Awaits, Retold, Unfit, lines};

/// What is left of a run of utterances. Immutable: one that changes gets a new number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Counts from 1 over the conversation's life; no two segments ever have the same.
    pub number: u32,
    /// 0 when written; one more with each fold.
    pub level: u32,
    /// The sequences that it stands for, soft-forgotten ones too.
    pub covers: Ranges,
    /// What was taken out of what was said, in the order said.
    pub sentences: Vec<Sentence>,
    /// Exact tokens of its text.
    pub tokens: u32,
    /// Tokens that its source counted in the window, when it was written.
    pub source_tokens: u64,
    /// A model's text, which is shown instead of the sentences.
    pub retold: Option<Arc<Retold>>,
    /// A model is to tell it; `None` once nothing is awaited.
    pub awaits: Option<Arc<Awaits>>,
}

impl Segment {
    /// Its text, line by line: a model's, or else the sentences.
    pub fn lines(&self) -> &[Sentence] {
        self.retold.as_ref().map_or(&self.sentences, |retold| &retold.lines)
    }

    /// The lines, one after another.
    pub fn text(&self) -> String {
        self.lines().iter().map(|sentence| &*sentence.text).collect()
    }

    fn new(level: u32, covers: Ranges, sentences: Vec<Sentence>, source_tokens: u64) -> Self {
        Self { number: 0, level, covers, sentences, tokens: 0, source_tokens, retold: None, awaits: None }
            .sum()
    }

    /// The same, with the tokens of its lines.
    fn sum(mut self) -> Self {
        self.tokens = self.lines().iter().map(|sentence| sentence.tokens).sum();
        self
    }

    /// The same, without the sentences of `gone` and without a model's text.
    fn without(&self, gone: &Ranges) -> Self {
        let kept = self.sentences.iter().filter(|sentence| !gone.contains(sentence.sequence));
        Self::new(self.level, self.covers.clone(), kept.cloned().collect(), self.source_tokens)
    }

    fn tells_of(&self, sequences: &Ranges) -> bool {
        self.sentences.iter().any(|sentence| sequences.contains(sentence.sequence))
            || self.was_told_from(sequences)
    }
}

/// The tokens that a segment of such a source may have.
fn budget(source_tokens: u64) -> u32 {
    let share = source_tokens.saturating_mul(SEGMENT_PERCENT.into()) / 100;
    u32::try_from(share).unwrap_or(u32::MAX).max(SEGMENT_FLOOR_TOKENS)
}

/// A conversation's segments, oldest first.
///
/// - Every sequence that was written and not erased is covered by exactly one segment.
/// - The tokens never pass the limit that the last change was given; `None` is unlimited.
/// - A clone costs one reference count.
#[derive(Clone, Debug)]
pub struct Summary {
    segments: Arc<[Arc<Segment>]>,
    tokens: u32,
    covered: u64,
    next_number: u32,
    awaits_since: Option<Timestamp>,
    provisional: usize,
    told_bytes: usize,
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
    /// Puts stored segments together again, in any order, with the number that the next one is
    /// to get.
    pub fn numbered(mut segments: Vec<Arc<Segment>>, next_number: u32) -> Self {
        // What was erased or left late may have changed the order.
        segments.sort_by_key(|segment| segment.covers.last());
        let tokens = total(&segments);
        let covered = segments.iter().map(|segment| segment.covers.count()).sum();
        let awaits = segments.iter().filter_map(|segment| segment.awaits.as_ref());
        let awaits_since = awaits.clone().map(|awaits| awaits.since).min();
        let provisional = awaits.count();
        let told_bytes = segments.iter().map(|segment| segment.told_bytes()).sum();
        let segments = segments.into();
        Self { segments, tokens, covered, next_number, awaits_since, provisional, told_bytes }
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
        self.lines().map(|sentence| &*sentence.text).collect()
    }

    /// The lines of all segments.
    pub fn lines(&self) -> impl Iterator<Item = &Sentence> + Clone {
        self.segments.iter().flat_map(|segment| segment.lines())
    }

    /// The segment that stands for `sequence`.
    pub fn covering(&self, sequence: Sequence) -> Option<&Arc<Segment>> {
        self.segments.iter().find(|segment| segment.covers.contains(sequence))
    }

    /// All sequences that a segment stands for.
    pub fn covers(&self) -> Ranges {
        let mut all = Ranges::new();
        self.segments.iter().for_each(|segment| all.union(&segment.covers));
        all
    }

    /// How many sequences the segments stand for.
    pub fn covered_count(&self) -> u64 {
        self.covered
    }

    /// Adds segments for what left the window, and folds as the limit demands.
    ///
    /// - A segment has at most [`SEGMENT_PERCENT`] of its source's tokens, or
    ///   [`SEGMENT_FLOOR_TOKENS`] when that is more; all that are added have at most half the limit
    ///   unless more is free.
    /// - It awaits a model where `means` has one and its source is larger than that floor.
    /// - Nothing evicted changes nothing.
    pub fn write(&self, evicted: &[Arc<Utterance>], focus: &[String], means: &Means<'_>) -> Self {
        if evicted.is_empty() {
            return self.clone();
        }
        let limit = means.limit();
        let room = (limit / 2).max(limit.saturating_sub(self.tokens));
        let all = counted(evicted);
        let mut rebuild = Rebuild::of(self);
        for piece in chunk::chunks(evicted) {
            let source = &evicted[piece];
            let source_tokens = counted(source);
            let share = u64::from(room) * source_tokens / all.max(1);
            let budget = budget(source_tokens).min(u32::try_from(share).unwrap_or(room));
            let sentences = summarise(source, &Focus::detect(source, focus), budget, means.counter);
            let covers = source.iter().map(|utterance| utterance.sequence).collect();
            let mut segment = Segment::new(0, covers, sentences, source_tokens);
            segment.awaits = means
                .awaits
                .filter(|_| source_tokens > SEGMENT_FLOOR_TOKENS.into())
                .map(|since| Arc::new(Awaits { focus: focus.into(), ..Awaits::plain(since) }));
            rebuild.push(segment);
        }
        rebuild.fold(means);
        rebuild.done()
    }

    /// Folds as a limit demands that has become smaller.
    pub fn fit(&self, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.fold(means);
        rebuild.done()
    }

    /// After a hard forget: neither sentences nor coverage of `gone` remain, nor what a model told that was
    /// shown any of it. A segment left without coverage goes.
    pub fn erase(&self, gone: &Ranges, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let mut covers = segment.covers.clone();
            covers.subtract(gone);
            let (left, all) = (covers.count(), segment.covers.count());
            // What each source counted is not known any more: in proportion.
            let source_tokens = segment.source_tokens.saturating_mul(left) / all.max(1);
            let without = || segment.without(gone).awaiting(segment, means);
            (left < all || segment.was_told_from(gone)).then(|| Segment {
                covers,
                source_tokens,
                ..without()
            })
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// After a soft forget: no sentence of `forgotten` remains, nor what a model told that was shown any of
    /// it; the coverage does.
    pub fn silence(&self, forgotten: &Ranges, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let silenced = || segment.without(forgotten).awaiting(segment, means);
            segment.tells_of(forgotten).then(silenced)
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// After a restore or an edit: sentences of `restored`, chosen anew, stand in the segments that
    /// cover them, each within the budget of its source, and the limit holds. What a model told that was
    /// shown what they said before goes.
    ///
    /// `restored` holds whole units, in order, as they are now. Those that are forgotten give none.
    pub fn restore(&self, restored: &[Arc<Utterance>], means: &Means<'_>) -> Self {
        let sequences: Ranges = restored.iter().map(|utterance| utterance.sequence).collect();
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let covered = restored.iter().filter(|utterance| segment.covers.contains(utterance.sequence));
            let back: Vec<Arc<Utterance>> = covered.cloned().collect();
            match back.is_empty() {
                false => Some(revive(segment, &back, means).awaiting(segment, means)),
                true => segment
                    .was_told_from(&sequences)
                    .then(|| segment.without(&Ranges::new()).awaiting(segment, means)),
            }
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// What a store has to do to get from `before`, an earlier state of the same summary, to this.
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

    fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.segments.iter().map(|segment| segment.number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// What a change made of a summary's segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentChanges {
    /// New ones, oldest first.
    pub written: Vec<Arc<Segment>>,
    /// The numbers of those that went or were replaced, ascending.
    pub removed: Vec<u32>,
}

impl SegmentChanges {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }
}

/// The tokens that utterances count in the window.
fn counted(utterances: &[Arc<Utterance>]) -> u64 {
    utterances.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum()
}

/// `segment` with sentences of `back` again.
fn revive(segment: &Segment, back: &[Arc<Utterance>], means: &Means<'_>) -> Segment {
    // A source that was forgotten when the segment was written is not counted in it.
    let budget = budget(segment.source_tokens.max(counted(back)));
    let mut sentences = segment.without(&back.iter().map(|utterance| utterance.sequence).collect()).sentences;
    sentences.extend(summarise(back, &Focus::none(), budget, means.counter));
    sentences.sort_by_key(|sentence| sentence.sequence);
    if sentences.iter().map(|sentence| sentence.tokens).sum::<u32>() > budget {
        sentences = select(sentences, &Focus::none(), budget);
    }
    Segment::new(segment.level, segment.covers.clone(), sentences, segment.source_tokens)
}
