//! Compacts a script's conversation, and replaces summaries with the texts of models.

use std::sync::Arc;

use super::script::{Script, Step, Words};
use utterd_domain::{
    Loaded, Ranges, Refusal,
    closing::{ReplaceClosing, Told, replace_closing},
    compaction::{
        Cause, Compact, Compaction, Extent, ReplaceByLlm, Undo, compact, give_up, replace_by_llm, undo,
    },
    conversation::Teller,
};

impl Script {
    /// Compacts the conversation to its last `keep_recent` utterances.
    pub async fn compact(&mut self, keep_recent: u32) -> Arc<Compaction> {
        self.compact_by(Extent::AllBut(keep_recent), true).await
    }

    pub async fn compact_by(&mut self, extent: Extent, summarises: bool) -> Arc<Compaction> {
        let compacted = self.try_compact(extent, summarises).await.expect("the rules accept the step");
        compacted.expect("there is something to compact")
    }

    pub async fn try_compact(
        &mut self,
        extent: Extent,
        summarises: bool,
    ) -> Result<Option<Arc<Compaction>>, Refusal> {
        let focus = vec!["codes".to_owned()];
        let command = Compact { extent, summarises, focus, cause: Cause::Asked, expected: None };
        let compacted = self.decided(|before, context| compact(before, &command, context)).await?;
        let Some(compacted) = compacted else { return Ok(None) };
        self.apply(&Step::of(&self.state, compacted.transition)).await;
        Ok(Some(compacted.compaction))
    }

    /// Undoes the last compaction that is not undone; returns the sequences that are in the window again.
    pub async fn undo(&mut self) -> Ranges {
        self.try_undo().await.expect("there is a compaction to undo")
    }

    pub async fn try_undo(&mut self) -> Result<Ranges, Refusal> {
        let undone = self.decided(|before, context| undo(before, &Undo { expected: None }, context)).await?;
        self.apply(&Step::of(&self.state, undone.transition)).await;
        Ok(undone.returned.iter().map(|utterance| utterance.sequence).collect())
    }

    /// The numbers of the segments waiting for a model, the oldest segment first.
    pub fn awaiting(&self) -> Vec<u32> {
        let segments = self.state.summary.segments().iter();
        segments.filter(|segment| segment.awaits.is_some()).map(|segment| segment.number).collect()
    }

    /// Replaces the text of the segment with this number, which waits for a model, with a model's.
    pub async fn replace_by_llm(&mut self, segment: u32, text: &str) {
        let mut segments = self.state.summary.segments().iter();
        let told = segments.find(|told| told.number == segment).expect("there is such a segment");
        let command = ReplaceByLlm {
            segment,
            lines: told.accept(text, &Words).expect("the text is short"),
            model: "small".into(),
            prompt: 1,
            seen: self.state.head.revision,
            from: self.state.summary.covers(),
        };
        let transition = replace_by_llm(&self.state, &command, &self.context(&Loaded::default()));
        assert!(self.apply_if(transition).await, "the segment waits");
    }

    /// Replaces the closing of the conversation, which must have ended, with a model's.
    pub async fn replace_closing(&mut self, title: &str) {
        let told = Told { title: title.into(), summary: "It was about codes.".into() };
        let teller = Teller { model: "small".into(), prompt: 1 };
        let command = ReplaceClosing { told, teller, seen: self.state.head.revision };
        let transition = replace_closing(&self.state, &command, &self.context(&Loaded::default()));
        assert!(self.apply_if(transition).await, "the ending waits");
    }

    /// Stops waiting for a model for the segment with this number.
    pub async fn give_up(&mut self, segment: u32) {
        let transition = give_up(&self.state, segment, &self.context(&Loaded::default()));
        assert!(self.apply_if(transition).await, "the segment waits");
    }
}
