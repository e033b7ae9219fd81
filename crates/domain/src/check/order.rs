//! The order of utterances: turns, instructions, awaited answers.

use crate::{Head, Role, Sequence, Utterance};

/// The utterances so far.
pub(super) struct Order {
    newest: Option<Newest>,
    turn: u32,
    /// The first utterance that is not an instruction.
    other: Option<Sequence>,
    /// Whether every utterance from the first on was seen, and was an instruction.
    only_instructions: bool,
}

#[derive(Clone, Copy)]
struct Newest {
    sequence: Sequence,
    awaits_answer: bool,
    turn: u32,
}

impl Default for Order {
    fn default() -> Self {
        Self { newest: None, turn: 0, other: None, only_instructions: true }
    }
}

impl Order {
    /// Checks that turns do not go back, and that instructions are the system utterances of the window that are at
    /// the head.
    pub(super) fn add(&mut self, utterance: &Utterance, archived: bool) -> Result<(), String> {
        let &Utterance { sequence, turn, instruction, .. } = utterance;
        let system = utterance.role == Role::System;
        let first = self.only_instructions && self.next() == sequence;
        let (before, other) = (self.turn, self.other);
        self.turn = turn.max(before);
        self.only_instructions = first && instruction;
        self.other = other.or_else(|| (!instruction).then_some(sequence));
        let awaits = utterance.more.as_ref().is_some_and(|more| more.awaits_answer);
        let awaits_answer = awaits && !utterance.forgotten && !archived;
        self.newest = Some(Newest { sequence, awaits_answer, turn });
        match (instruction, other) {
            _ if turn < before => {
                Err(format!("utterance {sequence} is of turn {turn}, after one of turn {before}"))
            }
            (true, _) if !system || archived => Err(format!(
                "utterance {sequence} is an instruction, but not a system utterance in the window"
            )),
            (true, Some(other)) => {
                Err(format!("utterance {sequence} is an instruction, after utterance {other}, which is not"))
            }
            (false, _) if system && first && !archived => {
                Err(format!("utterance {sequence} is a system utterance at the head, but not an instruction"))
            }
            _ => Ok(()),
        }
    }

    /// Checks what the head says about the newest utterance, unless that may have been erased.
    pub(super) fn check(&self, head: &Head) -> Result<(), String> {
        let newest = self.newest.filter(|newest| newest.sequence.next() == head.next);
        let turn_is_right = match newest {
            Some(newest) => newest.turn == head.turn,
            None => self.turn <= head.turn,
        };
        if !turn_is_right {
            return Err(format!(
                "its head is in turn {}, but the newest utterance is in turn {}",
                head.turn, self.turn
            ));
        }
        // where the end was erased exactly, the newest that is left may await an answer again
        if head.awaits_answer && !self.newest.is_some_and(|newest| newest.awaits_answer) {
            return Err("its head awaits an answer, but the newest utterance does not".to_owned());
        }
        self.check_instructions(head)
    }

    fn check_instructions(&self, head: &Head) -> Result<(), String> {
        let all_are = self.only_instructions && self.next() == head.next;
        match (head.only_instructions, self.other) {
            (true, Some(other)) => Err(format!(
                "its head says that only instructions were said, but utterance {other} is not one"
            )),
            (false, _) if all_are => {
                Err("its head says that more than instructions was said, but there is no more".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The sequence after the newest utterance.
    fn next(&self) -> Sequence {
        self.newest.map_or(Sequence::FIRST, |newest| newest.sequence.next())
    }
}
