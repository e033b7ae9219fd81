//! Two segments that become one.

use std::sync::Arc;

use crate::domain::{
    Ranges,
    extractive::{Focus, Sentence, select},
    segment::{
        llm_text::{Awaits, LlmText},
        record::Segment,
        summary_context::SummaryContext,
    },
};

/// Longer texts of models are not kept for the next one: it tells anew what the sentences tell.
const MAX_TOLD_BYTES: usize = 32 << 10;

/// Two neighbours, in order, that are folded into a segment of the next level.
pub(super) struct Joined<'a> {
    older: &'a Segment,
    newer: &'a Segment,
}

impl<'a> Joined<'a> {
    pub(super) fn of(older: &'a Segment, newer: &'a Segment) -> Self {
        Self { older, newer }
    }

    /// All that both tell.
    pub(super) fn whole(&self, with: &SummaryContext<'_>) -> Segment {
        let llm_text = self.newest_llm_text().map(|newest| {
            let lines = [self.older.lines(), self.newer.lines()].concat();
            Arc::new(LlmText { lines, from: self.from(), ..(**newest).clone() })
        });
        let awaits = self.awaited().then(|| self.awaits(with)).flatten();
        Segment { llm_text, awaits, ..self.plain(self.sentences()) }.sum()
    }

    /// What tells most of both in `budget` tokens; the texts of models are kept for the one that is to tell
    /// it anew.
    pub(super) fn within(&self, budget: u32, with: &SummaryContext<'_>) -> Segment {
        let segment = self.plain(select(self.sentences(), &Focus::none(), budget));
        Segment { awaits: self.awaits(with), ..segment }
    }

    fn plain(&self, sentences: Vec<Sentence>) -> Segment {
        let level = self.older.level.max(self.newer.level) + 1;
        let source_tokens = self.older.source_tokens + self.newer.source_tokens;
        let mut covers = self.older.covers.clone();
        covers.union(&self.newer.covers);
        let both = self.older.imported.zip(self.newer.imported);
        let imported = both.map(|(older, newer)| older.and(newer));
        Segment { imported, ..Segment::new(level, covers, sentences, source_tokens) }
    }

    fn both(&self) -> [&'a Segment; 2] {
        [self.older, self.newer]
    }

    fn sentences(&self) -> Vec<Sentence> {
        let mut sentences = [&*self.older.sentences, &*self.newer.sentences].concat();
        sentences.sort_by_key(|sentence| sentence.sequence);
        sentences
    }

    fn newest_llm_text(&self) -> Option<&'a Arc<LlmText>> {
        self.newer.llm_text.as_ref().or(self.older.llm_text.as_ref())
    }

    fn awaited(&self) -> bool {
        self.both().iter().any(|segment| segment.awaits.is_some())
    }

    /// What the texts of models were told from, and what both cover.
    fn from(&self) -> Ranges {
        let mut from = Ranges::new();
        for segment in self.both() {
            from.union(&segment.covers);
            segment.llm_text.iter().for_each(|llm_text| from.union(&llm_text.from));
            segment.awaits.iter().for_each(|awaits| from.union(&awaits.from));
        }
        from
    }

    fn awaits(&self, with: &SummaryContext<'_>) -> Option<Arc<Awaits>> {
        let now = with.awaits.filter(|_| self.older.imported.is_none())?;
        let waiting = self.both().into_iter().filter_map(|segment| segment.awaits.as_ref());
        let since = waiting.clone().map(|awaits| awaits.since).min().unwrap_or(now);
        let mut focus: Vec<String> = waiting.flat_map(|awaits| awaits.focus.iter().cloned()).collect();
        focus.sort_unstable();
        focus.dedup();
        let told = self.llm_texts();
        let from = if told.is_empty() { Ranges::new() } else { self.from() };
        Some(Arc::new(Awaits { since, told: told.into(), from, focus: focus.into() }))
    }

    /// What models told of either, beside what the other tells; empty when none did, or when it has become
    /// too long: then the sentences are what there is to tell anew.
    fn llm_texts(&self) -> String {
        match self.both().map(llm_text_of) {
            [None, None] => String::new(),
            both => {
                let parts = both.into_iter().zip(self.both());
                let told: String =
                    parts.map(|(told, segment)| told.unwrap_or_else(|| segment.text())).collect();
                if told.len() > MAX_TOLD_BYTES { String::new() } else { told }
            }
        }
    }
}

/// What models told of a segment, or of those that were folded into it.
fn llm_text_of(segment: &Segment) -> Option<String> {
    match (&segment.llm_text, &segment.awaits) {
        (Some(_), _) => Some(segment.text()),
        (None, Some(awaits)) => (!awaits.told.is_empty()).then(|| awaits.told.to_string()),
        (None, None) => None,
    }
}
