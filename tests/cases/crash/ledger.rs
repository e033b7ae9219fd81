//! Everything that was requested from the server, and the answers.

use std::collections::HashSet;

use crate::crash::{
    known::Known,
    request::{Facts, Request},
};

/// The attempts of one run, by conversation.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// One for each conversation; each has a single caller, so that its attempts have an order.
    pub slots: Vec<Slot>,
}

/// The attempts at one conversation.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The conversation.
    pub id: String,
    /// Whether its texts are long and soon removed.
    pub is_bulky: bool,
    /// In the order in which they were sent; answered ones come first.
    pub attempts: Vec<Attempt>,
    /// How many of them were answered.
    pub answered: usize,
    /// What the answers say.
    pub known: Known,
}

/// One call and its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// A name that is unique in the run.
    pub name: String,
    /// The request.
    pub request: Request,
    /// The answer, if there was one.
    pub facts: Option<Facts>,
}

impl Ledger {
    /// A ledger for this many conversations, the last of which are bulky.
    pub fn new(conversations: usize, bulky: usize) -> Self {
        let slot = |number| Slot::new(format!("conversation-{number}"), number + bulky >= conversations);
        Self { slots: (0..conversations).map(slot).collect() }
    }

    /// How many attempts were answered.
    pub fn answered(&self) -> usize {
        self.slots.iter().map(|slot| slot.answered).sum()
    }

    /// The ledger at a moment when only the `begun` attempts had been sent and the `answered` ones answered.
    pub fn at(&self, begun: &HashSet<&str>, answered: &HashSet<&str>) -> Result<Self, String> {
        let empty = |slot: &Slot| Slot::new(slot.id.clone(), slot.is_bulky);
        let mut then = Self { slots: self.slots.iter().map(empty).collect() };
        for (slot, then) in self.slots.iter().zip(&mut then.slots) {
            for attempt in slot.attempts.iter().filter(|attempt| begun.contains(attempt.name.as_str())) {
                then.attempts.push(Attempt { facts: None, ..attempt.clone() });
                let facts = attempt.facts.clone().filter(|_| answered.contains(attempt.name.as_str()));
                facts.map_or(Ok(()), |facts| then.answer(facts))?;
            }
        }
        Ok(then)
    }
}

impl Slot {
    fn new(id: String, is_bulky: bool) -> Self {
        Self { id, is_bulky, attempts: Vec::new(), answered: 0, known: Known::default() }
    }

    /// A unique name for the next attempt.
    pub fn next_name(&self) -> String {
        format!("{}-{}", self.id.replace("conversation-", "c"), self.attempts.len())
    }

    /// Records an attempt that is about to be sent.
    pub fn begin(&mut self, name: String, request: Request) {
        self.attempts.push(Attempt { name, request, facts: None });
    }

    /// Records the answer to the first attempt without one.
    pub fn answer(&mut self, facts: Facts) -> Result<(), String> {
        let attempt = &mut self.attempts[self.answered];
        let told = |error| format!("{}, at {}: {error}", self.id, attempt.name);
        self.known.apply(&attempt.request, &facts).map_err(told)?;
        attempt.facts = Some(facts);
        self.answered += 1;
        Ok(())
    }

    /// The attempts without an answer, in the order in which they were sent.
    pub fn unanswered(&self) -> &[Attempt] {
        &self.attempts[self.answered..]
    }

    /// The answered attempts since the conversation was last created.
    pub fn answered_in_this_life(&self) -> &[Attempt] {
        let answered = &self.attempts[..self.answered];
        let ends = |attempt: &Attempt| matches!(attempt.request, Request::Delete(_));
        let start = answered.iter().rposition(ends).map_or(0, |place| place + 1);
        &answered[start..]
    }
}
