//! Messages for these tests.

use super::Entry;
use crate::domain::{Draft, More, Role, ToolCall};

/// The messages with their indexes.
pub fn numbered<const N: usize>(drafts: [Draft; N]) -> Vec<Entry> {
    (0..).zip(drafts).map(|(index, draft)| Entry { index: Some(index), draft }).collect()
}

pub fn said(role: Role, content: &str, more: More) -> Draft {
    let more = (more != More::default()).then(|| Box::new(more));
    Draft { id: None, role, content: content.into(), turn: None, create_time: None, pinned: false, more }
}

pub fn system(content: &str) -> Draft {
    said(Role::System, content, More::default())
}

pub fn user(content: &str) -> Draft {
    said(Role::User, content, More::default())
}

pub fn named(name: &str, content: &str) -> Draft {
    said(Role::User, content, More { name: Some(name.into()), ..More::default() })
}

pub fn assistant(content: &str) -> Draft {
    said(Role::Assistant, content, More::default())
}

/// An assistant's calls.
pub fn calls(content: &str, ids: &[&str]) -> Draft {
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "find".into(), arguments_json: "{}".into() };
    said(Role::Assistant, content, More { tool_calls: ids.iter().map(call).collect(), ..More::default() })
}

/// A tool's result.
pub fn result(call: &str) -> Draft {
    said(Role::Tool, "it is", More { tool_call_id: Some(call.into()), ..More::default() })
}

/// The ids of the calls that a message makes.
pub fn call_ids(entry: &Entry) -> Vec<&str> {
    entry.draft.tool_calls().iter().map(|call| &*call.id).collect()
}

/// The id of the call that a message answers.
pub fn answers(entry: &Entry) -> &str {
    entry.draft.tool_call_id().unwrap_or_default()
}
