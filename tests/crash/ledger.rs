//! Everything that was asked of the server, and what was answered.

use std::collections::HashSet;

use crate::{
    known::Known,
    request::{Facts, Request},
};

/// The attempts of one run, by conversation.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// One for each conversation; each has one caller, so that its attempts have an order.
    pub slots: Vec<Slot>,
}

/// The attempts at one conversation.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The conversation.
    pub id: String,
    /// Whether what is said in it is long, and soon gone.
    pub is_bulky: bool,
    /// In the order in which they were sent; the answered ones come first.
    pub attempts: Vec<Attempt>,
    /// How many of them are answered.
    pub answered: usize,
    /// What the answers say.
    pub known: Known,
}

/// One call and its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Names it among all attempts of the run.
    pub name: String,
    /// What was asked.
    pub request: Request,
    /// What was answered, if anything was.
    pub facts: Option<Facts>,
}

impl Ledger {
    /// A ledger for so many conversations, the last of which are bulky.
    pub fn new(conversations: usize, bulky: usize) -> Self {
        let slot = |number| Slot::new(format!("conversation-{number}"), number + bulky >= conversations);
        Self { slots: (0..conversations).map(slot).collect() }
    }

    /// How many attempts were answered.
    pub fn answered(&self) -> usize {
        self.slots.iter().map(|slot| slot.answered).sum()
    }

    /// The ledger of a moment at which only the `begun` attempts were sent and the `answered` ones
    /// answered.
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

    /// A name for the next attempt, which no other attempt has.
    pub fn next_name(&self) -> String {
        format!("{}-{}", self.id.replace("conversation-", "c"), self.attempts.len())
    }

    /// Notes an attempt that is about to be sent.
    pub fn begin(&mut self, name: String, request: Request) {
        self.attempts.push(Attempt { name, request, facts: None });
    }

    /// Notes the answer to the first attempt without one.
    pub fn answer(&mut self, facts: Facts) -> Result<(), String> {
        let attempt = &mut self.attempts[self.answered];
        let told = |error| format!("{}, at {}: {error}", self.id, attempt.name);
        self.known.apply(&attempt.request, &facts).map_err(told)?;
        attempt.facts = Some(facts);
        self.answered += 1;
        Ok(())
    }

    /// The attempts without an answer, in the order sent.
    pub fn unanswered(&self) -> &[Attempt] {
        &self.attempts[self.answered..]
    }

    /// The answered attempts since the conversation was created last.
    pub fn answered_in_this_life(&self) -> &[Attempt] {
        let answered = &self.attempts[..self.answered];
        let ends = |attempt: &Attempt| matches!(attempt.request, Request::Delete(_));
        let start = answered.iter().rposition(ends).map_or(0, |place| place + 1);
        &answered[start..]
    }
}
