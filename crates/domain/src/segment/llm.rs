//! What happens to a summary when a model writes a segment's text, or is no longer awaited.

use std::sync::Arc;

use crate::segment::{
    llm_text::LlmText, rebuild::Rebuild, record::Segment, summary::Summary, summary_context::SummaryContext,
};

impl Summary {
    /// Puts a model's text in place of a segment's own lines, and folds as the limit demands.
    pub fn replace_by_llm(&self, number: u32, llm_text: &LlmText, with: &SummaryContext<'_>) -> Self {
        self.replacing(with, |segment| {
            (segment.number == number).then(|| {
                let mut own = segment.clone();
                own.awaits = None;
                own.llm_text = Some(Arc::new(llm_text.clone()));
                own.sum()
            })
        })
    }

    /// Stops waiting for a model to write the segment with this number, or any.
    pub fn settle(&self, number: Option<u32>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let is_meant = number.is_none_or(|number| segment.number == number);
            (is_meant && segment.awaits.is_some()).then(|| Segment { awaits: None, ..segment.clone() })
        });
        rebuild.done()
    }

    /// Removes the models' texts for which `doubted` holds, and those that were kept to be rewritten.
    pub(crate) fn doubt(&self, doubted: impl Fn(&str) -> bool, with: &SummaryContext<'_>) -> Self {
        self.replacing(with, |segment| {
            let told = segment.awaits.as_ref().is_some_and(|awaits| doubted(&awaits.told));
            let llm_text = segment.llm_text.is_some() && doubted(&segment.text());
            (told || llm_text).then(|| segment.without_llm_text().awaiting(segment, with))
        })
    }
}
