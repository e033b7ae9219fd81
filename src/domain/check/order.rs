//! The order in which things are said: turns, instructions, what awaits an answer.

use crate::domain::{Head, Role, Sequence, Utterance};

/// What was said so far.
pub(super) struct Order {
    newest: Option<Newest>,
    turn: u32,
    /// The first utterance that is no instruction.
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
    /// Turns do not go back; instructions are the system utterances at the head, and stay.
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
                "utterance {sequence} is an instruction, and not a system utterance of the window"
            )),
            (true, Some(other)) => {
                Err(format!("utterance {sequence} is an instruction, after utterance {other}, which is none"))
            }
            (false, _) if system && first => {
                Err(format!("utterance {sequence} is a system utterance at the head, and no instruction"))
            }
            _ => Ok(()),
        }
    }

    /// The head tells of the newest utterance, unless that may have been erased.
    pub(super) fn check(&self, head: &Head) -> Result<(), String> {
        let newest = self.newest.filter(|newest| newest.sequence.next() == head.next);
        let turn_is_right = match newest {
            Some(newest) => newest.turn == head.turn,
            None => self.turn <= head.turn,
        };
        if !turn_is_right {
            return Err(format!(
                "its head is in turn {}, and the newest utterance in turn {}",
                head.turn, self.turn
            ));
        }
        if head.awaits_answer && !newest.is_some_and(|newest| newest.awaits_answer) {
            return Err("its head awaits an answer, and the newest utterance does not".to_owned());
        }
        self.check_instructions(head)
    }

    fn check_instructions(&self, head: &Head) -> Result<(), String> {
        let all_are = self.only_instructions && self.next() == head.next;
        match (head.only_instructions, self.other) {
            (true, Some(other)) => {
                Err(format!("its head knows of instructions only, and utterance {other} is none"))
            }
            (false, _) if all_are => {
                Err("its head knows of more than instructions, and there is no more".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The sequence behind the newest utterance.
    fn next(&self) -> Sequence {
        self.newest.map_or(Sequence::FIRST, |newest| newest.sequence.next())
    }
}
