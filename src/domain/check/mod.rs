//! The invariants of a conversation: what the parts of its state owe each other.
//!
//! | what must hold | where it is looked at |
//! |---|---|
//! | the numbers of the head fit together | `head` |
//! | all that is counted is there, and nothing else | [`Check::done`] |
//! | turns, instructions and what awaits an answer are in order | `order` |
//! | units are whole, and results have their calls | `units` |
//! | late results answer what was said before; what is told of abandoned calls is so | `late` |
//! | the head counts the window's tokens right, if it counts them | `measures` |
//! | the head counts the bytes of all utterances right, if it counts them | [`Check::done`] |
//! | the window is within its limits, but for what may not leave it | `measures` |
//! | segments cover what left the window, once, and tell of nothing forgotten | `summary` |
//! | compactions are in a row, and fold segments of what left the window | `summary` |
//!
//! What the rules leave open is not called wrong: a call without a result may have been forgotten
//! and restored, and what no segment covers may have left while nothing was summarised.

mod head;
mod late;
mod measures;
mod order;
mod summary;
#[cfg(test)]
mod tests;
mod units;

use std::sync::Arc;

use crate::domain::{
    Conversation, Head, Ranges, Revision, Sequence, Utterance, compaction::Compaction, segment::Segment,
};
use {measures::Measures, order::Order, units::Units};

impl Conversation {
    /// What is wrong with a committed state; nothing with any that the rules made. The archive is not
    /// looked at.
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

/// A look at a state, its utterances one by one: the archive need not be in memory.
pub struct Check<'c> {
    head: &'c Head,
    /// The sequences that segments tell of, those that compactions folded too.
    told: Ranges,
    wrong: Vec<String>,
    /// What is wrong with the utterances, as long as none is missing.
    wrong_of_said: Vec<String>,
    seen: Ranges,
    is_missing: bool,
    units: Units,
    order: Order,
    measures: Measures,
    /// The bytes of the utterances; `None` when not all are looked at.
    bytes: Option<u64>,
}

impl<'c> Check<'c> {
    /// Looks at everything but the utterances; `segments` in any order, `compactions` the oldest first.
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

    /// The next utterance that is there, ascending.
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
            self.wrong_of_said.push(format!("a segment tells of utterance {sequence}, which is forgotten"));
        }
    }

    /// An utterance is there, and nobody knows what it says.
    pub fn unreadable(&mut self, sequence: Sequence) {
        self.is_missing = true;
        match self.place(sequence) {
            Ok(()) => self.seen.add(sequence),
            Err(wrong) => self.wrong.push(wrong),
        }
    }

    /// All that is wrong. Where an utterance is missing, what is told of the others is not looked at.
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

    /// Whether there may be an utterance with `sequence`.
    fn place(&self, sequence: Sequence) -> Result<(), String> {
        let head = self.head;
        if sequence >= head.next {
            return Err(format!(
                "utterance {sequence} is stored, and the next one to be said is {}",
                head.next
            ));
        }
        match head.left.contains(sequence) && !head.archived.contains(sequence) {
            true => {
                Err(format!("utterance {sequence} is stored, and it is neither in the window nor archived"))
            }
            false => Ok(()),
        }
    }

    /// What is not there and must be: all that is archived; of what did not leave, what cannot have been
    /// erased.
    fn missing(&self) -> Ranges {
        let mut missing = match self.head.erased_at {
            Revision::NONE => self.head.kept(),
            _ => (*self.head.archived).clone(),
        };
        missing.subtract(&self.seen);
        missing
    }

    fn check_bytes(&self) -> Result<(), String> {
        match self.head.stored_bytes.zip(self.bytes) {
            Some((counted, there)) if counted != there => {
                Err(format!("its head counts {counted} bytes of utterances, and {there} are there"))
            }
            _ => Ok(()),
        }
    }

    fn check_count(&self, missing: &Ranges) -> Result<(), String> {
        let (stored, there) = (self.head.stored, self.seen.count() + missing.count());
        match stored == there {
            true => Ok(()),
            false => Err(format!("its head counts {stored} utterances, and {there} are there")),
        }
    }
}

fn check_archive(head: &Head) -> Result<(), String> {
    let (archived, limit) = (head.archived.count(), head.policy.archive_limit);
    match archived > u64::from(limit) {
        true => Err(format!("{archived} utterances are archived; its policy lets {limit} be")),
        false => Ok(()),
    }
}
