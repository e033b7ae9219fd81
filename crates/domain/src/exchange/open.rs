//! The exchange at the end of a conversation.

use std::sync::Arc;

use crate::{Role, Sequence, ToolCall, Utterance};

/// The exchange at the end of a conversation whose calls are not all answered. What follows
/// its first utterance belongs to its unit until every call is answered, or until a user
/// utterance abandons it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OpenExchange {
    /// The first utterance of the unit.
    pub unit: Sequence,
    /// The ids of the waiting calls, in the order they were made.
    pub calls: Vec<Box<str>>,
}

impl OpenExchange {
    /// Opens an exchange, or adds calls to the one that is open.
    pub fn with_calls(open: Option<&Self>, unit: Sequence, calls: &[ToolCall]) -> Self {
        let mut exchange = open.cloned().unwrap_or(Self { unit, calls: Vec::new() });
        exchange.calls.extend(calls.iter().map(|call| call.id.clone()));
        exchange
    }

    /// The exchange that is open after `members`, the utterances of a unit; a forgotten exchange is
    /// abandoned.
    pub fn after(members: &[Arc<Utterance>]) -> Option<Self> {
        if members.iter().any(|member| member.forgotten) {
            return None;
        }
        let calls: Vec<_> = unanswered(members).into_iter().map(|(id, _)| id.into()).collect();
        let unit = members.first().filter(|_| !calls.is_empty())?.sequence;
        Some(Self { unit, calls })
    }

    /// The exchange after a result for `call_id`: `Err` if no such call waits, `Ok(None)` if it was the last
    /// one. Which of several calls with the same id no longer waits makes no difference here.
    pub fn answered(&self, call_id: &str) -> Result<Option<Self>, NoSuchCall> {
        let nearest = self.calls.iter().rposition(|call| **call == *call_id);
        let mut rest = self.clone();
        rest.calls.remove(nearest.ok_or(NoSuchCall)?);
        Ok((!rest.calls.is_empty()).then_some(rest))
    }
}

/// The calls without a result after `members`, the utterances of a unit, in the order they were made; each
/// with the utterance that makes it.
pub(crate) fn unanswered(members: &[Arc<Utterance>]) -> Vec<(&str, Sequence)> {
    let mut open: Vec<(&str, Sequence)> = Vec::new();
    for member in members.iter().filter(|member| !member.aside && member.late().is_none()) {
        let id = member.tool_call_id().filter(|_| member.role == Role::Tool);
        if let Some(nearest) = id.and_then(|id| open.iter().rposition(|(call, _)| *call == id)) {
            open.remove(nearest);
        }
        open.extend(member.tool_calls().iter().map(|call| (&*call.id, member.sequence)));
    }
    open
}

/// No open call has the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchCall;
