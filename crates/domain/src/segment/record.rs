//! A segment: what utterances that left the window said, and the sequences that it covers.

use std::sync::Arc;

use crate::{
    Ranges, TokenCounter,
    extract::{Extract, Fact, Item, Line, Part, Wanted, extract, facts, memory_bytes, sequences},
    limits::{SEGMENT_FLOOR_TOKENS, SEGMENT_PERCENT},
    segment::{
        llm_text::{Awaits, LlmText, Unfit, lines},
        period::Imported,
        summary_context::SummaryContext,
    },
};

/// The summary of a run of utterances. Immutable: a changed segment gets a new number.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// Counts from 1 over the conversation's life; never reused.
    pub number: u32,
    /// 0 when written; one more with each fold.
    pub level: u32,
    /// The sequences it stands for, including soft-forgotten ones; none if it was imported.
    pub covers: Ranges,
    /// What can be told of what was said, oldest first: more than the lines tell, so that a fold can still choose
    /// what later turned out to matter.
    pub items: Vec<Item>,
    /// The lines that tell it without a model.
    pub own_lines: Vec<Line>,
    /// Exact tokens of its text.
    pub tokens: u32,
    /// Tokens that its source counted for in the window when it was written.
    pub source_tokens: u64,
    /// A model's text, shown instead of the segment's own lines.
    pub llm_text: Option<Arc<LlmText>>,
    /// Set while a model is to rewrite it.
    pub awaits: Option<Arc<Awaits>>,
    /// What it is about, if it was imported: then it comes from no utterance.
    pub imported: Option<Imported>,
}

impl Segment {
    /// Its text, line by line: a model's, or else its own.
    pub fn lines(&self) -> &[Line] {
        self.llm_text.as_ref().map_or(&self.own_lines, |llm_text| &llm_text.lines)
    }

    /// The lines, concatenated.
    pub fn text(&self) -> String {
        self.lines().iter().map(|line| &*line.text).collect()
    }

    /// Whether it stands for anything.
    pub(crate) fn stands(&self) -> bool {
        match self.imported {
            Some(_) => !self.items.is_empty(),
            None => !self.covers.is_empty(),
        }
    }

    /// A segment that tells `extract`.
    pub(super) fn new(level: u32, covers: Ranges, extract: Extract, source_tokens: u64) -> Self {
        let Extract { items, lines: own_lines } = extract;
        let (number, tokens, llm_text, awaits, imported) = (0, 0, None, None, None);
        Self { number, level, covers, items, own_lines, tokens, source_tokens, llm_text, awaits, imported }
            .sum()
    }

    /// The same, telling the best of `items` in `budget` tokens.
    pub(super) fn telling(
        &self,
        items: Vec<Item>,
        budget: u32,
        part: Part,
        with: &SummaryContext<'_>,
    ) -> Self {
        let wanted = Wanted { budget, part, focus: Vec::new() };
        let told = extract(items, &wanted, with.kept(self.source_tokens), with.counter);
        Self {
            imported: self.imported,
            ..Self::new(self.level, self.covers.clone(), told, self.source_tokens)
        }
    }

    /// The tokens of its own lines.
    pub(super) fn own_tokens(&self) -> u32 {
        self.own_lines.iter().map(|line| line.tokens).sum()
    }

    /// Sets its tokens to those of its lines.
    pub(super) fn sum(mut self) -> Self {
        self.tokens = self.lines().iter().map(|line| line.tokens).sum();
        self
    }

    /// A copy that tells nothing of `gone`, and without a model's text.
    pub(super) fn without(&self, gone: &Ranges, part: Part, with: &SummaryContext<'_>) -> Self {
        let kept = self.items_without(gone);
        match kept.len() < self.items.len() {
            true => self.telling(kept, self.own_tokens(), part, with),
            false => self.without_llm_text(),
        }
    }

    /// The items that do not depend on `gone`.
    pub(super) fn items_without(&self, gone: &Ranges) -> Vec<Item> {
        let stays = |item: &&Item| !sequences(item).any(|sequence| gone.contains(sequence));
        self.items.iter().filter(stays).cloned().collect()
    }

    /// A copy that tells the same without a model.
    pub(super) fn without_llm_text(&self) -> Self {
        Self { llm_text: None, awaits: None, ..self.clone() }.sum()
    }

    /// The sequences that its text is about, or may be about if a model wrote it.
    pub(super) fn told(&self) -> Ranges {
        match &self.llm_text {
            _ if self.imported.is_some() => Ranges::new(),
            Some(llm_text) => llm_text.from.clone(),
            None => self.own_told(),
        }
    }

    /// The sequences that its own lines are about.
    pub(crate) fn own_told(&self) -> Ranges {
        let mut told = Ranges::new();
        self.own_lines.iter().for_each(|line| told.union(&line.from));
        told
    }

    /// The sequences that its items are about.
    pub(crate) fn known(&self) -> Ranges {
        self.items.iter().flat_map(sequences).collect()
    }

    pub(super) fn tells_of(&self, sequences: &Ranges) -> bool {
        self.known().meets(sequences) || self.llm_saw(sequences)
    }

    /// The tokens that a model's text may have: what the segment may have for its source or, if it was
    /// folded, what its own lines have; always fewer than the source.
    pub fn room(&self) -> u32 {
        let own = self.own_tokens();
        let most = match self.level {
            0 => budget(self.source_tokens).max(own),
            _ => own.max(SEGMENT_FLOOR_TOKENS),
        };
        most.min(u32::try_from(self.source_tokens.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// The lines of a model's text, if it can be this segment's: nothing but text, no blank lines, and no
    /// more tokens than there is [`room`](Self::room). The [`facts`](Self::facts) that it drops follow in
    /// a line of their own, as far as there is room.
    pub fn accept(&self, text: &str, counter: &dyn TokenCounter) -> Result<Vec<Line>, Unfit> {
        let mut told = lines(text, self.room(), counter)?;
        let left = self.room() - told.iter().map(|line| line.tokens).sum::<u32>();
        let all: String = told.iter().map(|line| line.text.to_lowercase()).collect();
        let dropped: Vec<Fact> = self.facts().into_iter().filter(|fact| !fact.is_told_by(&all)).collect();
        told.extend(noted(&dropped, left, counter));
        Ok(told)
    }

    /// What a model's text for it must not lose.
    pub fn facts(&self) -> Vec<Fact> {
        facts(&self.items, Part::START)
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
        let lines = |lines: &[Line]| -> usize { lines.iter().map(Line::memory_bytes).sum() };
        let llm_text = self.llm_text.as_ref();
        let llm_text = llm_text.map_or(0, |told| 128 + told.from.memory_bytes() + lines(&told.lines));
        let awaits = self.awaits.as_ref().map_or(0, |awaits| awaits.memory_bytes());
        let items: usize = self.items.iter().map(memory_bytes).sum();
        let own = items + lines(&self.own_lines);
        size_of::<Self>() + 48 + self.covers.memory_bytes() + own + llm_text + awaits
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

/// A line of the last facts that fit in `room` tokens, and the number of the others.
fn noted(facts: &[Fact], room: u32, counter: &dyn TokenCounter) -> Option<Line> {
    let line = |from: usize| {
        let texts: Vec<&str> = facts[from..].iter().map(|fact| fact.text.as_str()).collect();
        let others = if from > 0 { format!("; … and {from} more") } else { String::new() };
        Line::quoted(&format!("Noted: {}{others}", texts.join("; ")), counter)
    };
    (0..facts.len()).map(line).find(|line| line.tokens <= room)
}

/// The tokens that a segment may have for a source of `source_tokens`.
pub(super) fn budget(source_tokens: u64) -> u32 {
    let share = source_tokens.saturating_mul(SEGMENT_PERCENT.into()) / 100;
    u32::try_from(share).unwrap_or(u32::MAX).max(SEGMENT_FLOOR_TOKENS)
}
