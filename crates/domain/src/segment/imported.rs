//! Imported summaries of what was said before the conversation.
//!
//! They cover no sequence: each sequence that left the window is covered by exactly one of the other
//! segments. They come before the other segments, are folded only with each other, and lose sentences to the
//! summary's limit like any segment. An imported segment without sentences is removed.

use utterd_text::{one_line, sentences};

use crate::{
    Ranges, TokenCounter,
    extract::{Extract, Item, Kind, Line, Part},
    segment::{
        llm_text::tidy, period::ImportedSummary, rebuild::Rebuild, record::Segment, summary::Summary,
        summary_context::SummaryContext,
    },
};

impl Segment {
    /// An imported segment; `None` if it says nothing.
    fn of_import(summary: &ImportedSummary, counter: &dyn TokenCounter) -> Option<Self> {
        // one a line, so that the least useful ones can be dropped first
        let sentences = sentences(&summary.text).into_iter();
        let sentences: Vec<String> = sentences.filter_map(|said| tidy(&one_line(said.text))).collect();
        let lines: Vec<Line> = sentences.iter().map(|sentence| Line::quoted(sentence, counter)).collect();
        let items =
            sentences.iter().map(|sentence| Item::new(Kind::Quoted, "", sentence.as_str(), 0)).collect();
        let source_tokens = lines.iter().map(|line| u64::from(line.tokens)).sum();
        let own = Self::new(0, Ranges::new(), Extract { items, lines }, source_tokens);
        (!sentences.is_empty()).then_some(Self { imported: Some(summary.of), ..own })
    }
}

impl Summary {
    /// Adds summaries of what was said before the conversation, and folds as the limit demands.
    pub fn import(&self, summaries: &[ImportedSummary], with: &SummaryContext<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        let segments = summaries.iter().filter_map(|summary| Segment::of_import(summary, with.counter));
        rebuild.begin_with(segments.collect());
        rebuild.fold(with);
        rebuild.done()
    }

    /// What it still contains of the imported summaries; importing that again makes the same segments.
    pub fn imported(&self) -> Vec<ImportedSummary> {
        let imported =
            |segment: &Segment| Some(ImportedSummary { of: segment.imported?, text: segment.text().into() });
        self.segments().iter().filter_map(|segment| imported(segment)).collect()
    }

    /// Removes the imported sentences for which `gone` holds, after a hard forget.
    pub fn erase_imported(&self, gone: impl Fn(&str) -> bool, with: &SummaryContext<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            segment.imported.filter(|_| segment.items.iter().any(|item| gone(&item.text)))?;
            let kept: Vec<Item> = segment.items.iter().filter(|item| !gone(&item.text)).cloned().collect();
            Some(segment.telling(kept, segment.own_tokens(), Part::MIDDLE, with))
        });
        rebuild.done()
    }
}
