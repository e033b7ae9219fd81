//! What a model told of a segment, and what it is asked for.

use std::sync::Arc;

use crate::domain::{
    Ranges, Sequence, Timestamp, TokenCounter, Transition,
    extractive::Sentence,
    limits::SEGMENT_FLOOR_TOKENS,
    segment::{Means, Segment, Summary, budget, rebuild::Rebuild},
};

/// What a line of a model's weighs where lines compete: about what a telling sentence does.
const LINE_WEIGHT: u32 = 60;

/// A model's text of a segment; it stands in the place of the sentences, which are kept beside it for
/// when what it was made from is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retold {
    /// The text, a line each.
    pub lines: Vec<Sentence>,
    /// The model.
    pub model: Box<str>,
    /// The version of the prompts that it was asked with.
    pub prompt: u32,
    /// Every sequence that the model was shown something of: when one of these is forgotten, nothing of the
    /// text may stay.
    pub from: Ranges,
}

/// That a model is to tell a segment anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaits {
    /// Since when.
    pub since: Timestamp,
    /// What models told of the segments that were folded into this one; empty when none did.
    pub told: Box<str>,
    /// The sequences that this was told from.
    pub from: Ranges,
    /// The focus areas that the caller of a compaction named.
    pub focus: Arc<[String]>,
}

/// Why a model's text cannot be a segment's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It says nothing.
    #[error("the text is empty")]
    Empty,
    /// It has too many tokens.
    #[error("the text has {tokens} tokens, of which {most} are accepted")]
    TooLong {
        /// What it has.
        tokens: u32,
        /// What it may have.
        most: u32,
    },
}

impl Awaits {
    /// A model is awaited since `since`, and nothing was told yet.
    pub(super) fn plain(since: Timestamp) -> Self {
        Self { since, told: "".into(), from: Ranges::new(), focus: Arc::default() }
    }
}

impl Segment {
    /// The tokens that a model's text may have: what the segment may have by its source, and for one that
    /// was folded, what its sentences have; always fewer than the source.
    pub fn room(&self) -> u32 {
        let own: u32 = self.sentences.iter().map(|sentence| sentence.tokens).sum();
        let most = match self.level {
            0 => budget(self.source_tokens).max(own),
            _ => own.max(SEGMENT_FLOOR_TOKENS),
        };
        most.min(u32::try_from(self.source_tokens.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// The lines of a model's text, if it can be this segment's: nothing but text, no blank lines, and no
    /// more tokens than there is [`room`](Self::room).
    pub fn accept(&self, text: &str, counter: &dyn TokenCounter) -> Result<Vec<Sentence>, Unfit> {
        lines(text, self.covers.first().unwrap_or(Sequence::FIRST), self.room(), counter)
    }

    /// The same, waiting for a model where `means` has one and the segment is worth it: because it had
    /// one's text, waited for it, or is new.
    pub(super) fn awaiting(mut self, before: &Self, means: &Means<'_>) -> Self {
        let was = before.awaits.as_ref();
        if before.retold.is_none() && was.is_none() {
            return self;
        }
        self.awaits = means.awaits.map(|now| {
            let since = was.map_or(now, |was| was.since);
            let focus = was.map(|was| was.focus.clone()).unwrap_or_default();
            Arc::new(Awaits { focus, ..Awaits::plain(since) })
        });
        self
    }

    /// About how many bytes, in memory, is what models told of it beside its sentences, and what is awaited.
    pub fn told_bytes(&self) -> usize {
        let retold = self
            .retold
            .as_ref()
            .map_or(0, |retold| 128 + retold.lines.iter().map(|line| line.text.len() + 48).sum::<usize>());
        retold + self.awaits.as_ref().map_or(0, |awaits| 128 + awaits.told.len())
    }

    /// Whether no model's text was told from anything but `sequences`.
    pub(super) fn was_told_only_from(&self, sequences: &Ranges) -> bool {
        self.retold.as_ref().is_none_or(|retold| sequences.holds(&retold.from))
            && self.awaits.as_ref().is_none_or(|awaits| sequences.holds(&awaits.from))
    }

    /// Whether a model's text, or what it is to be made from, was told from any of `sequences`.
    pub(super) fn was_told_from(&self, sequences: &Ranges) -> bool {
        let told = |from: &Ranges| from.meets(sequences);
        let awaits = self.awaits.as_ref();
        self.retold.as_ref().is_some_and(|retold| told(&retold.from))
            || awaits.is_some_and(|awaits| told(&awaits.from) || told(&self.covers))
    }
}

impl Summary {
    /// Puts a model's text in the place of a segment's sentences; folds as the limit demands.
    pub fn retell(&self, number: u32, retold: &Retold, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            (segment.number == number).then(|| {
                let mut own = segment.clone();
                own.awaits = None;
                own.retold = Some(Arc::new(retold.clone()));
                own.sum()
            })
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// Waits no more for a model to tell the segment.
    pub fn settle(&self, number: u32) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            (segment.number == number).then(|| Segment { awaits: None, ..segment.clone() })
        });
        rebuild.done()
    }

    /// Waits no more for a model to tell any segment.
    pub fn settle_all(&self) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild
            .replace(|segment| segment.awaits.is_some().then(|| Segment { awaits: None, ..segment.clone() }));
        rebuild.done()
    }

    /// Takes away the models' texts for which `doubted` holds, and what was to be told anew from them.
    pub(in crate::domain) fn doubt(&self, doubted: impl Fn(&str) -> bool, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let told = segment.awaits.as_ref().is_some_and(|awaits| doubted(&awaits.told));
            let retold = segment.retold.is_some() && doubted(&segment.text());
            (told || retold).then(|| segment.without(&Ranges::new()).awaiting(segment, means))
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// Since when the segment that waits longest for a model has waited.
    pub fn awaits_since(&self) -> Option<Timestamp> {
        self.awaits_since
    }

    /// The sum of its segments' [`Segment::told_bytes`].
    pub fn told_bytes(&self) -> usize {
        self.told_bytes
    }

    /// How many segments wait for a model.
    pub fn provisional(&self) -> usize {
        self.provisional
    }
}

impl Transition {
    /// Notes what a model has told of compactions.
    pub(in crate::domain) fn note_model(&mut self, covers: &Ranges, model: &Arc<str>) {
        self.each_compaction(|compaction| {
            let own = compaction.undone.is_none() && compaction.compacted.meets(covers);
            (own && compaction.model.as_ref() != Some(model)).then(|| crate::domain::compaction::Compaction {
                model: Some(model.clone()),
                ..compaction.clone()
            })
        });
    }
}

/// The lines of a model's text that may have `most` tokens: nothing but text, and no blank lines. They are
/// noted under `sequence`.
pub fn lines(
    text: &str,
    sequence: Sequence,
    most: u32,
    counter: &dyn TokenCounter,
) -> Result<Vec<Sentence>, Unfit> {
    let lines: Vec<Sentence> =
        text.lines().filter_map(tidy).map(|line| counted(line, sequence, counter)).collect();
    let tokens = lines.iter().fold(0u32, |sum, line| sum.saturating_add(line.tokens));
    match () {
        () if lines.is_empty() => Err(Unfit::Empty),
        () if tokens > most => Err(Unfit::TooLong { tokens, most }),
        () => Ok(lines),
    }
}

/// A line without white space around it and control characters in it, so that its tokens add up with
/// those of others; `None` when nothing is left.
fn tidy(line: &str) -> Option<String> {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    match line.starts_with('/') {
        // a slash is counted with the line break before it
        true => Some(format!("- {line}")),
        false => (!line.is_empty()).then(|| line.to_owned()),
    }
}

fn counted(mut line: String, sequence: Sequence, counter: &dyn TokenCounter) -> Sentence {
    line.push('\n');
    Sentence { sequence, tokens: counter.count(&line), text: line.into(), weight: LINE_WEIGHT }
}
