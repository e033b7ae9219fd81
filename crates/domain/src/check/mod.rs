//! The invariants of a conversation: how the parts of its state must fit together.
//!
//! | what must hold | where it is checked |
//! |---|---|
//! | the numbers of the head fit together | `head` |
//! | everything counted is stored, and nothing else | [`Check::done`] |
//! | turns, instructions and awaited answers are in order | `order` |
//! | units are whole, and results have their calls | `units` |
//! | late results answer earlier calls; the records of abandoned calls are right | `late` |
//! | the head counts the window's tokens correctly | `measures` |
//! | the head counts the bytes of all utterances correctly | [`Check::done`] |
//! | the window is within its limits, except for what cannot leave it | `measures` |
//! | segments cover utterances that left the window, each once, and have no sentences of forgotten ones | `summary` |
//! | compactions are numbered consecutively, and fold segments of utterances that left the window | `summary` |
//!
//! What the rules leave open is not an error: a call without a result may have been forgotten and restored,
//! and utterances that no segment covers may have left the window while summaries were disabled.

mod head;
mod late;
mod measures;
mod order;
mod summary;
#[cfg(test)]
mod tests;
mod units;

use std::sync::Arc;

use crate::{
    Conversation, Head, Ranges, Revision, Sequence, Utterance, compaction::Compaction, segment::Segment,
};
use {measures::Measures, order::Order, units::Units};

impl Conversation {
    /// What is wrong with a committed state; nothing for a state that the rules made. The archive is not
    /// checked.
    pub fn check(&self) -> Vec<String> {
        let (segments, next_segment) = (self.summary.segments(), self.summary.next_number());
        let mut check = Check::of(&self.head, segments, next_segment, &self.compactions);
        check.seen = (*self.head.archived).clone();
        check.bytes = Some(0).filter(|_| check.seen.is_empty());
        self.window.iter().for_each(|utterance| check.utterance(utterance));
        check.wrong.extend(check.measures.differ(&self.window).err());
        check.done()
    }
}

/// A check of a state, one utterance at a time: the archive need not be in memory.
pub struct Check<'c> {
    head: &'c Head,
    /// The sequences that segments have sentences of, including segments that compactions folded.
    told: Ranges,
    wrong: Vec<String>,
    /// What is wrong with the utterances, reported only if none is missing.
    wrong_of_said: Vec<String>,
    seen: Ranges,
    is_missing: bool,
    units: Units,
    order: Order,
    measures: Measures,
    /// The bytes of the utterances; `None` if not all of them are checked.
    bytes: Option<u64>,
}

impl<'c> Check<'c> {
    /// Checks everything except the utterances; `segments` in any order, `compactions` oldest first.
    pub fn of(
        head: &'c Head,
        segments: &[Arc<Segment>],
        next_segment: u32,
        compactions: &[Arc<Compaction>],
    ) -> Self {
        let mut wrong = Vec::new();
        wrong.extend(head.check().err().map(|(part, problem)| format!("{part} {problem}")));
        let mut told = summary::check(head, segments, next_segment, &mut wrong);
        told.union(&summary::check_compactions(head, compactions, &mut wrong));
        wrong.extend(check_archive(head).err());
        Self {
            head,
            told,
            wrong,
            wrong_of_said: Vec::new(),
            seen: Ranges::new(),
            is_missing: false,
            units: Units::default(),
            order: Order::default(),
            measures: Measures::default(),
            bytes: Some(0),
        }
    }

    /// Checks the next stored utterance, in ascending order.
    pub fn utterance(&mut self, utterance: &Utterance) {
        let sequence = utterance.sequence;
        match self.place(sequence) {
            Ok(()) => self.seen.add(sequence),
            Err(wrong) => {
                self.bytes = None;
                return self.wrong.push(wrong);
            }
        }
        let archived = self.head.archived.contains(sequence);
        self.wrong_of_said.extend(self.units.add(utterance, archived).err());
        self.wrong_of_said.extend(self.order.add(utterance, archived).err());
        self.wrong_of_said.extend(late::check(utterance, self.head).err());
        if !archived {
            self.measures.add(utterance);
        }
        self.bytes = self.bytes.map(|bytes| bytes + utterance.stored_bytes());
        if !utterance.is_live() && self.told.contains(sequence) {
            self.wrong_of_said
                .push(format!("a segment has text from utterance {sequence}, which is forgotten"));
        }
    }

    /// Notes an utterance that is stored, but cannot be read.
    pub fn unreadable(&mut self, sequence: Sequence) {
        self.is_missing = true;
        match self.place(sequence) {
            Ok(()) => self.seen.add(sequence),
            Err(wrong) => self.wrong.push(wrong),
        }
    }

    /// Returns everything that is wrong. If an utterance is missing, errors in the others are not reported.
    pub fn done(mut self) -> Vec<String> {
        let missing = self.missing();
        if !missing.is_empty() {
            self.wrong.push(format!("utterances are missing: {missing}"));
        }
        self.wrong.extend(self.check_count(&missing).err());
        self.wrong.extend(late::check_stored(self.head, &self.seen).err());
        if missing.is_empty() && !self.is_missing {
            self.wrong.append(&mut self.wrong_of_said);
            self.wrong.extend(self.units.check(self.head).err());
            self.wrong.extend(self.order.check(self.head).err());
            self.wrong.extend(self.measures.check_tokens(self.head).err());
            self.wrong.extend(self.measures.check(self.head).err());
            self.wrong.extend(self.check_bytes().err());
        }
        self.wrong
    }

    /// Whether there can be an utterance with `sequence`.
    fn place(&self, sequence: Sequence) -> Result<(), String> {
        let head = self.head;
        if sequence >= head.next {
            return Err(format!("utterance {sequence} is stored, but the next sequence is {}", head.next));
        }
        match head.left.contains(sequence) && !head.archived.contains(sequence) {
            true => Err(format!("utterance {sequence} is stored, but is neither in the window nor archived")),
            false => Ok(()),
        }
    }

    /// The utterances that must be stored but are not: the archived ones and, if nothing was ever erased,
    /// those of the window.
    fn missing(&self) -> Ranges {
        let mut missing = match self.head.erased_at {
            Revision::NONE => self.head.kept(),
            _ => (*self.head.archived).clone(),
        };
        missing.subtract(&self.seen);
        missing
    }

    fn check_bytes(&self) -> Result<(), String> {
        let counted = self.head.stored_bytes;
        match self.bytes {
            Some(there) if there != counted => {
                Err(format!("its head counts {counted} bytes of utterances, but there are {there}"))
            }
            _ => Ok(()),
        }
    }

    fn check_count(&self, missing: &Ranges) -> Result<(), String> {
        let (stored, there) = (self.head.stored, self.seen.count() + missing.count());
        match stored == there {
            true => Ok(()),
            false => Err(format!("its head counts {stored} utterances, but there are {there}")),
        }
    }
}

fn check_archive(head: &Head) -> Result<(), String> {
    let (archived, limit) = (head.archived.count(), head.policy.archive_limit);
    match archived > u64::from(limit) {
        true => Err(format!("{archived} utterances are archived; its policy allows {limit}")),
        false => Ok(()),
    }
}
