//! What contexts are made of, in short.

use super::super::*;
use crate::{Role, testing::Talk};

/// The messages, in short.
pub(super) fn told(context: &Context) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<_> = message.tool_calls().iter().map(|call| &*call.id).collect();
        format!("{} {}{}", message.role, message.text(), calls.join("+"))
    };
    context.messages.iter().map(line).collect()
}

pub(super) fn sequences(context: &Context) -> Vec<u64> {
    context.messages.iter().filter_map(|message| Some(message.utterance.as_ref()?.sequence.get())).collect()
}

pub(super) fn omitted(context: &Context) -> Vec<(Omission, String)> {
    context.omitted.iter().map(|(omission, ranges)| (*omission, ranges.to_string())).collect()
}

pub(super) fn unlimited() -> Request {
    Request { max_turns: None, ..Request::default() }
}

pub(super) fn within(budget: u32) -> Request {
    Request { budget: Some(budget), ..unlimited() }
}

/// This many turns of a user and an assistant utterance.
pub(super) fn turns(count: usize) -> Talk {
    let mut talk = Talk::session();
    for turn in 1..=count {
        talk.say(Role::User, &format!("Question {turn}: where is order {turn}?"));
        talk.say(Role::Assistant, &format!("Order {turn} is on its way to you."));
    }
    talk
}
