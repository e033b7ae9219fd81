//! What the common way of keeping the last messages breaks.

use serde_json::{Value, json};
use utterd::domain::{Draft, Role};

use super::super::validator::{Rule, openai};
use super::said::counter;

/// A cut: the instructions at the head, and the last messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Whether it leaves something out.
    pub cuts: bool,
    /// Whether a result is without its call.
    pub orphaned: bool,
    /// Whether a result is without its call, or a call without its result.
    pub broken: bool,
}

impl Cut {
    /// The last `count` messages.
    pub fn last(said: &[Draft], count: usize) -> Self {
        let (head, rest) = said.split_at(instructions(said));
        let start = rest.len().saturating_sub(count);
        Self::of(head, &rest[start..], start > 0)
    }

    /// As many of the last messages as fit the budget.
    pub fn fitting(said: &[Draft], budget: u32) -> Self {
        let (head, rest) = said.split_at(instructions(said));
        let tokens = |draft: &Draft| u64::from(draft.tokens(counter()));
        let mut left = u64::from(budget).saturating_sub(head.iter().map(tokens).sum());
        let mut count = 0;
        while let Some(rest) = rest.iter().rev().nth(count).and_then(|draft| left.checked_sub(tokens(draft)))
        {
            left = rest;
            count += 1;
        }
        Self::last(said, count)
    }

    fn of(head: &[Draft], kept: &[Draft], cuts: bool) -> Self {
        let messages: Vec<Value> = head.iter().chain(kept).map(message).collect();
        let faults = openai::faults(&Value::from(messages).to_string());
        let has = |rules: &[Rule]| faults.iter().any(|fault| rules.contains(&fault.rule));
        let orphaned = has(&[Rule::Orphan, Rule::AnsweredTwice]);
        Self { cuts, orphaned, broken: orphaned || has(&[Rule::Unanswered]) }
    }
}

fn instructions(said: &[Draft]) -> usize {
    said.iter().take_while(|draft| draft.role == Role::System).count()
}

fn message(draft: &Draft) -> Value {
    let call = |call: &utterd::domain::ToolCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}});
    let mut message = json!({"role": draft.role.as_str(), "content": draft.content});
    if !draft.tool_calls().is_empty() {
        message["tool_calls"] = draft.tool_calls().iter().map(call).collect();
    }
    if let Some(id) = draft.tool_call_id() {
        message["tool_call_id"] = json!(id);
    }
    message
}
