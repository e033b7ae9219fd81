//! Messages for these tests.

use super::{Entry, Unit, cut::Cost};
use crate::{Draft, More, Role, ToolCall};

/// The messages with their indexes, each with the results behind it.
pub fn units<const N: usize>(drafts: [Draft; N]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let entry = Entry { index: Some(index), draft };
        let cost = cost(&entry);
        match units.last_mut().filter(|_| entry.draft.role == Role::Tool) {
            Some(unit) => {
                unit.cost = unit.cost.plus(cost);
                unit.results.push(entry);
            }
            None => units.push(Unit { message: entry, results: Vec::new(), cost }),
        }
    }
    units
}

/// The user's new message.
pub fn prompt() -> Unit {
    let message = Entry { index: None, draft: user("prompt") };
    let cost = cost(&message);
    Unit { message, results: Vec::new(), cost }
}

/// The bytes of the text, and one token.
fn cost(entry: &Entry) -> Cost {
    let bytes = entry.draft.content.len() as u64;
    Cost { messages: u64::from(entry.index.is_some()), bytes, tokens: 1 }
}

pub fn system(content: &str) -> Draft {
    Draft::of(Role::System, content, More::default())
}

pub fn user(content: &str) -> Draft {
    Draft::of(Role::User, content, More::default())
}

pub fn named(name: &str, content: &str) -> Draft {
    Draft::of(Role::User, content, More { name: Some(name.into()), ..More::default() })
}

pub fn assistant(content: &str) -> Draft {
    Draft::of(Role::Assistant, content, More::default())
}

/// An assistant's calls.
pub fn calls(content: &str, ids: &[&str]) -> Draft {
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "find".into(), arguments_json: "{}".into() };
    Draft::of(
        Role::Assistant,
        content,
        More { tool_calls: ids.iter().map(call).collect(), ..More::default() },
    )
}

/// A tool's result.
pub fn result(call: &str) -> Draft {
    Draft::of(Role::Tool, "it is", More { tool_call_id: Some(call.into()), ..More::default() })
}
