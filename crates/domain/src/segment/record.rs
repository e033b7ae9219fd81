//! A segment: sentences from utterances that left the window, and the sequences that it covers.

use std::sync::Arc;

use crate::{
    Ranges, Sequence, TokenCounter,
    extractive::Sentence,
    limits::{SEGMENT_FLOOR_TOKENS, SEGMENT_PERCENT},
    segment::{
        facts::dropped,
        llm_text::{Awaits, LlmText, Unfit, lines},
        period::Imported,
        summary_context::SummaryContext,
    },
};

/// The summary of a run of utterances. Immutable: a changed segment gets a new number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Counts from 1 over the conversation's life; never reused.
    pub number: u32,
    /// 0 when written; one more with each fold.
    pub level: u32,
    /// The sequences it stands for, including soft-forgotten ones; none if it was imported.
    pub covers: Ranges,
    /// Sentences taken from what was said, in order.
    pub sentences: Vec<Sentence>,
    /// Exact tokens of its text.
    pub tokens: u32,
    /// Tokens that its source counted for in the window when it was written.
    pub source_tokens: u64,
    /// A model's text, shown instead of the sentences.
    pub llm_text: Option<Arc<LlmText>>,
    /// Set while a model is to rewrite it.
    pub awaits: Option<Arc<Awaits>>,
    /// What it is about, if it was imported: then it comes from no utterance.
    pub imported: Option<Imported>,
}

impl Segment {
    /// Its text, line by line: a model's, or else the sentences.
    pub fn lines(&self) -> &[Sentence] {
        self.llm_text.as_ref().map_or(&self.sentences, |llm_text| &llm_text.lines)
    }

    /// The lines, concatenated.
    pub fn text(&self) -> String {
        self.lines().iter().map(|sentence| &*sentence.text).collect()
    }

    /// Whether it stands for anything.
    pub(crate) fn stands(&self) -> bool {
        match self.imported {
            Some(_) => !self.sentences.is_empty(),
            None => !self.covers.is_empty(),
        }
    }

    pub(super) fn new(level: u32, covers: Ranges, sentences: Vec<Sentence>, source_tokens: u64) -> Self {
        let (llm_text, awaits, imported) = (None, None, None);
        Self { number: 0, level, covers, sentences, tokens: 0, source_tokens, llm_text, awaits, imported }
            .sum()
    }

    /// Sets its tokens to those of its lines.
    pub(super) fn sum(mut self) -> Self {
        self.tokens = self.lines().iter().map(|sentence| sentence.tokens).sum();
        self
    }

    /// A copy without the sentences of `gone` and without a model's text.
    pub(super) fn without(&self, gone: &Ranges, with: &SummaryContext<'_>) -> Self {
        let gone = |sequence| gone.contains(sequence);
        let kept = self.sentences.iter().filter_map(|line| line.without(gone, with.counter));
        Self::new(self.level, self.covers.clone(), kept.collect(), self.source_tokens)
    }

    /// The sequences that its text is about, or may be about if a model wrote it.
    pub(super) fn told(&self) -> Ranges {
        match &self.llm_text {
            _ if self.imported.is_some() => Ranges::new(),
            Some(llm_text) => llm_text.from.clone(),
            None => self.sentences.iter().flat_map(Sentence::sequences).collect(),
        }
    }

    pub(super) fn tells_of(&self, sequences: &Ranges) -> bool {
        self.sentences.iter().flat_map(Sentence::sequences).any(|sequence| sequences.contains(sequence))
            || self.llm_saw(sequences)
    }

    /// The tokens that a model's text may have: what the segment may have for its source or, if it was
    /// folded, what its sentences have; always fewer than the source.
    pub fn room(&self) -> u32 {
        let own: u32 = self.sentences.iter().map(|sentence| sentence.tokens).sum();
        let most = match self.level {
            0 => budget(self.source_tokens).max(own),
            _ => own.max(SEGMENT_FLOOR_TOKENS),
        };
        most.min(u32::try_from(self.source_tokens.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// The lines of a model's text, if it can be this segment's: nothing but text, no blank lines, and no
    /// more tokens than there is [`room`](Self::room). The [`facts`](super::facts()) that it drops follow in
    /// a line of their own, as far as there is room.
    pub fn accept(&self, text: &str, counter: &dyn TokenCounter) -> Result<Vec<Sentence>, Unfit> {
        let sequence = self.covers.first().unwrap_or(Sequence::FIRST);
        let mut told = lines(text, sequence, self.room(), counter)?;
        let left = self.room() - told.iter().map(|line| line.tokens).sum::<u32>();
        told.extend(dropped(&self.sentences, &told, left, counter));
        Ok(told)
    }

    /// The same, waiting for a model, if `with` has one and `before` had a model's text or was waiting for
    /// one.
    pub(super) fn awaiting(mut self, before: &Self, with: &SummaryContext<'_>) -> Self {
        let was = before.awaits.as_ref();
        if before.llm_text.is_none() && was.is_none() {
            return self;
        }
        self.awaits = with.awaits.map(|now| {
            let since = was.map_or(now, |was| was.since);
            let focus = was.map(|was| was.focus.clone()).unwrap_or_default();
            Arc::new(Awaits { focus, ..Awaits::plain(since) })
        });
        self
    }

    /// The approximate memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        let lines = |lines: &[Sentence]| -> usize { lines.iter().map(Sentence::memory_bytes).sum() };
        let llm_text = self.llm_text.as_ref();
        let llm_text = llm_text.map_or(0, |told| 128 + told.from.memory_bytes() + lines(&told.lines));
        let awaits = self.awaits.as_ref().map_or(0, |awaits| awaits.memory_bytes());
        size_of::<Self>() + 48 + self.covers.memory_bytes() + lines(&self.sentences) + llm_text + awaits
    }

    /// Whether no model's text was made from anything but `sequences`.
    pub(super) fn llm_saw_only(&self, sequences: &Ranges) -> bool {
        self.llm_text.as_ref().is_none_or(|llm_text| sequences.holds(&llm_text.from))
            && self.awaits.as_ref().is_none_or(|awaits| sequences.holds(&awaits.from))
    }

    /// Whether any of `sequences` is a source of a model's text, or of the text that a model is to write.
    pub(super) fn llm_saw(&self, sequences: &Ranges) -> bool {
        let told = |from: &Ranges| from.meets(sequences);
        let awaits = self.awaits.as_ref();
        self.llm_text.as_ref().is_some_and(|llm_text| told(&llm_text.from))
            || awaits.is_some_and(|awaits| told(&awaits.from) || told(&self.covers))
    }
}

/// The tokens that a segment may have for a source of `source_tokens`.
pub(super) fn budget(source_tokens: u64) -> u32 {
    let share = source_tokens.saturating_mul(SEGMENT_PERCENT.into()) / 100;
    u32::try_from(share).unwrap_or(u32::MAX).max(SEGMENT_FLOOR_TOKENS)
}
