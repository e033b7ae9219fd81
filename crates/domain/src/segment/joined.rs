//! Neighbouring segments that become one.

use std::sync::Arc;

use crate::{
    Ranges, TokenCounter,
    extract::{Extract, Item, Part},
    segment::{
        llm_text::{Awaits, LlmText},
        record::Segment,
        summary_context::SummaryContext,
    },
};

/// Longer texts of models are not kept for the next model: it rewrites the segments' own lines instead.
const MAX_TOLD_BYTES: usize = 32 << 10;

/// Neighbours, in order, that are folded into a segment of the next level.
pub(super) struct Joined<'a>(pub(super) &'a [Arc<Segment>]);

impl<'a> Joined<'a> {
    /// The segment with all that they tell.
    pub(super) fn whole(&self, with: &SummaryContext<'_>) -> Segment {
        let llm_text = self.newest_llm_text().map(|newest| {
            let lines = self.0.iter().flat_map(|segment| segment.lines().to_vec()).collect();
            Arc::new(LlmText { lines, from: self.from(), ..(**newest).clone() })
        });
        let awaits = self.awaited().then(|| self.awaits(with)).flatten();
        let lines = self.0.iter().flat_map(|segment| segment.own_lines.iter().cloned()).collect();
        Segment { llm_text, awaits, ..self.plain(Extract { items: self.items(), lines }) }.sum()
    }

    /// The segment with the best of what they can tell, in `budget` tokens; the texts of models are kept for
    /// the model that is to rewrite it.
    pub(super) fn within(&self, budget: u32, part: Part, with: &SummaryContext<'_>) -> Segment {
        let counter = &KnownLines { segments: self.0, counter: with.counter };
        let telling = SummaryContext { counter, ..*with };
        let segment = self.plain(Extract::default()).telling(self.items(), budget, part, &telling);
        Segment { awaits: self.awaits(with), ..segment }
    }

    fn plain(&self, told: Extract) -> Segment {
        let level = self.0.iter().map(|segment| segment.level).max().unwrap_or(0) + 1;
        let source_tokens = self.0.iter().map(|segment| segment.source_tokens).sum();
        let mut covers = Ranges::new();
        self.0.iter().for_each(|segment| covers.union(&segment.covers));
        let imported = self.0.iter().map(|segment| segment.imported);
        let imported = imported.reduce(|older, newer| Some(older?.and(newer?))).flatten();
        Segment { imported, ..Segment::new(level, covers, told, source_tokens) }
    }

    fn items(&self) -> Vec<Item> {
        self.0.iter().flat_map(|segment| segment.items.iter().cloned()).collect()
    }

    fn newest_llm_text(&self) -> Option<&'a Arc<LlmText>> {
        self.0.iter().rev().find_map(|segment| segment.llm_text.as_ref())
    }

    fn awaited(&self) -> bool {
        self.0.iter().any(|segment| segment.awaits.is_some())
    }

    /// The sequences that the models' texts were made from, and those that the segments cover.
    fn from(&self) -> Ranges {
        let mut from = Ranges::new();
        for segment in self.0 {
            from.union(&segment.covers);
            segment.llm_text.iter().for_each(|llm_text| from.union(&llm_text.from));
            segment.awaits.iter().for_each(|awaits| from.union(&awaits.from));
        }
        from
    }

    fn awaits(&self, with: &SummaryContext<'_>) -> Option<Arc<Awaits>> {
        let now = with.awaits.filter(|_| self.0.iter().all(|segment| segment.imported.is_none()))?;
        let waiting = self.0.iter().filter_map(|segment| segment.awaits.as_ref());
        let since = waiting.clone().map(|awaits| awaits.since).min().unwrap_or(now);
        let mut focus: Vec<String> = waiting.flat_map(|awaits| awaits.focus.iter().cloned()).collect();
        focus.sort_unstable();
        focus.dedup();
        let told = self.llm_texts();
        let from = if told.is_empty() { Ranges::new() } else { self.from() };
        Some(Arc::new(Awaits { since, told: told.into(), from, focus: focus.into() }))
    }

    /// The texts of models, and the lines of the segments without one. Empty if there is no such text, or
    /// if it has become too long: a model then rewrites the segments' own lines.
    fn llm_texts(&self) -> String {
        if self.0.iter().all(|segment| llm_text_of(segment).is_none()) {
            return String::new();
        }
        let told = self.0.iter().map(|segment| llm_text_of(segment).unwrap_or_else(|| segment.text()));
        let told: String = told.collect();
        if told.len() > MAX_TOLD_BYTES { String::new() } else { told }
    }
}

/// Counts what is not a line of these segments: most lines stay as they are when segments are folded.
struct KnownLines<'a> {
    segments: &'a [Arc<Segment>],
    counter: &'a dyn TokenCounter,
}

impl TokenCounter for KnownLines<'_> {
    fn count(&self, text: &str) -> u32 {
        let mut lines = self.segments.iter().flat_map(|segment| &segment.own_lines);
        lines.find(|line| *line.text == *text).map_or_else(|| self.counter.count(text), |line| line.tokens)
    }
}

/// The text of models for a segment, or for those that were folded into it.
fn llm_text_of(segment: &Segment) -> Option<String> {
    match (&segment.llm_text, &segment.awaits) {
        (Some(_), _) => Some(segment.text()),
        (None, Some(awaits)) => (!awaits.told.is_empty()).then(|| awaits.told.to_string()),
        (None, None) => None,
    }
}
