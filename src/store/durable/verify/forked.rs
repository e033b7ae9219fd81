//! Reads the utterances of a conversation that was forked or is a fork from all its lineages.

use std::iter::Peekable;

use super::survey::Survey;
use crate::{
    domain::{Head, Sequence, Utterance},
    store::durable::{
        key_value::Ascending,
        records::{self, Utterances},
    },
};

/// The utterances of one conversation, ascending, each in its latest version. Unreadable records are reported
/// when their lineage is checked.
pub(super) struct Forked<'a, 'h> {
    head: &'h Head,
    /// The lineages, in the order of precedence, with the last sequence to read of each.
    lineages: Vec<(Peekable<Keyed<'a>>, Sequence)>,
    broken: bool,
}

/// A sequence, and the utterance if it can be read; an error if the engine failed.
type Read = Result<(Sequence, Option<Utterance>), ()>;

/// The utterances of one lineage.
struct Keyed<'a>(Ascending<'a>);

impl<'a, 'h> Forked<'a, 'h> {
    /// Starts at the first utterance of the conversation.
    pub(super) fn open(head: &'h Head, survey: &Survey<'a>) -> Self {
        let lineages = head.lineages().map(|(lineage, through)| {
            let utterances = survey.within(&records::of_lineage::<Utterances>(lineage));
            (Keyed(utterances).peekable(), through)
        });
        Self { head, lineages: lineages.collect(), broken: false }
    }

    /// Whether the engine failed, so that utterances may have been skipped.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns the conversation's next utterance; nothing after an engine failure.
    pub(super) fn next(&mut self) -> Option<(Sequence, Option<Utterance>)> {
        loop {
            let (sequence, utterance) = self.newest_of_next()?;
            let archived = self.head.archived.contains(sequence);
            let live = sequence < self.head.next && !self.head.left.contains(sequence);
            if live || archived {
                return Some((sequence, utterance));
            }
        }
    }

    /// Returns the next sequence of any lineage, with the utterance of the first lineage that has it.
    fn newest_of_next(&mut self) -> Option<(Sequence, Option<Utterance>)> {
        let mut nexts = Vec::with_capacity(self.lineages.len());
        for (lineage, through) in &mut self.lineages {
            match lineage.peek() {
                Some(Ok((sequence, _))) if sequence <= through => nexts.push(*sequence),
                Some(Err(())) => {
                    self.broken = true;
                    return None;
                }
                _ => {}
            }
        }
        let next = nexts.into_iter().min()?;
        let mut found = None;
        for (lineage, _) in self.lineages.iter_mut().filter(|(_, through)| next <= *through) {
            let is_next = |pair: &Read| pair.as_ref().is_ok_and(|(sequence, _)| *sequence == next);
            if let Some(Ok((_, utterance))) = lineage.next_if(is_next) {
                found = found.or(Some(utterance));
            }
        }
        Some((next, found.flatten()))
    }
}

impl Iterator for Keyed<'_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        loop {
            let Ok((key, value)) = self.0.next()? else { return Some(Err(())) };
            if let Ok((_, sequence)) = records::decode_key::<Utterances>(&key) {
                let utterance = records::decode::<Utterances>(&key, &value).ok();
                return Some(Ok((sequence, utterance.map(|(_, utterance)| utterance))));
            }
        }
    }
}
