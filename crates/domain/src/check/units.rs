//! Units: the rule that pairs results with calls, applied again.

use crate::{Head, Role, Sequence, Utterance, exchange::OpenExchange};

/// The unit of the newest utterance so far.
///
/// No call is open when a unit starts, so each unit can be checked by itself, even if others were erased.
#[derive(Default)]
pub(super) struct Units {
    newest: Option<Marks>,
    /// The unit's waiting calls.
    open: Option<OpenExchange>,
    /// Whether the newest utterance is in one unit with what the assistant says next.
    leads: bool,
    /// Whether something is wrong with the unit; the rest of it is then not checked.
    is_wrong: bool,
}

/// What all members of a unit have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Marks {
    unit: Sequence,
    archived: bool,
    pinned: bool,
    forgotten: bool,
}

impl Units {
    /// Checks that the next utterance is in the unit that the rules assign to it.
    pub(super) fn add(&mut self, utterance: &Utterance, archived: bool) -> Result<(), String> {
        let &Utterance { sequence, unit, pinned, forgotten, .. } = utterance;
        let marks = Marks { unit, archived, pinned, forgotten };
        let before = self.newest.replace(marks);
        let joined = if unit == sequence {
            (self.open, self.is_wrong) = (None, false);
            Ok(())
        } else if self.is_wrong {
            return Ok(());
        } else {
            self.join(utterance, before, marks)
        };
        self.leads = utterance.leads();
        let result = joined.and_then(|()| self.pair(utterance));
        self.is_wrong = result.is_err();
        result
    }

    /// Checks the calls that the head says are waiting.
    ///
    /// Calls that it does not list may have been forgotten, which abandons them, and restored.
    pub(super) fn check(&self, head: &Head) -> Result<(), String> {
        let Some(told) = head.open.as_ref().filter(|_| !self.is_wrong) else { return Ok(()) };
        let waits = self.newest.is_some_and(|marks| !marks.forgotten && !marks.archived);
        match waits && self.open.as_ref() == Some(&**told) {
            true => Ok(()),
            false => {
                Err(format!("its head waits for the results of {:?}, but no utterance does", told.calls))
            }
        }
    }

    fn join(&self, utterance: &Utterance, before: Option<Marks>, marks: Marks) -> Result<(), String> {
        let &Utterance { sequence, unit, .. } = utterance;
        let Some(before) = before.filter(|before| before.unit == unit) else {
            return Err(format!(
                "utterance {sequence} is in the unit of {unit}, but the one before it is not"
            ));
        };
        if before != marks {
            let what = match before.archived == marks.archived {
                true => "pinned or forgotten",
                false => "archived",
            };
            return Err(format!("the unit of utterance {unit} is only partly {what}: up to {sequence}"));
        }
        match (&self.open, utterance.role) {
            (None, Role::Assistant) if self.leads => Ok(()),
            (None, _) => {
                Err(format!("utterance {sequence} is in the unit of {unit}, in which no call waits"))
            }
            (_, Role::User) => Err(format!("utterance {sequence} is a user's, but in the unit of {unit}")),
            (Some(_), _) => Ok(()),
        }
    }

    fn pair(&mut self, utterance: &Utterance) -> Result<(), String> {
        let sequence = utterance.sequence;
        let calls = utterance.tool_calls();
        match utterance.role {
            Role::Tool => return self.answer(utterance),
            _ if utterance.aside => {
                return Err(format!("utterance {sequence} is kept aside, but is not a result"));
            }
            _ if utterance.late().is_some() => {
                return Err(format!("utterance {sequence} is late, but is not a result"));
            }
            Role::Assistant if !calls.is_empty() => {
                self.open = Some(OpenExchange::with_calls(self.open.as_ref(), utterance.unit, calls));
            }
            Role::System | Role::User | Role::Assistant => {}
        }
        Ok(())
    }

    fn answer(&mut self, result: &Utterance) -> Result<(), String> {
        let sequence = result.sequence;
        let answered = result.tool_call_id().and_then(|call| self.open.as_ref()?.answered(call).ok());
        match answered {
            Some(_) if result.aside => Err(format!("result {sequence} is kept aside, but its call waits")),
            Some(_) if result.late().is_some() => {
                Err(format!("result {sequence} is late, but a call with its id waits"))
            }
            Some(rest) => {
                self.open = rest;
                Ok(())
            }
            None if result.aside != result.late().is_some() => Ok(()),
            None => Err(format!("result {sequence} has no call that waits")),
        }
    }
}
