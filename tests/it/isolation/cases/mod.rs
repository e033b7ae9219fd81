//! What others call with the names of Anna's things, method by method, and the expected codes.

mod admin;
mod compaction;
mod context;
mod conversation;
mod memory;
mod trace;

use crate::{isolation::anna::Names, support::prelude::*};

/// A call.
pub struct Case {
    pub method: &'static str,
    pub messages: Vec<Value>,
    pub code: Code,
}

/// Every call, with at least one for each method.
///
/// - By id: NOT_FOUND, or something new of the caller's own if the call creates what does not exist.
/// - By recipient: the response for a recipient without a conversation.
pub fn all(names: &Names) -> Vec<Case> {
    let mut cases = memory::cases(names);
    cases.extend(conversation::cases(names));
    cases.extend(context::cases());
    cases.extend(compaction::cases(names));
    cases.extend(trace::cases(names));
    cases.extend(admin::cases());
    cases
}

fn case(method: &'static str, code: Code, message: Value) -> Case {
    Case { method, messages: vec![message], code }
}

/// A call for each way to name Anna's things: two of her conversations by id; and recipients, one of which
/// has a name that everybody uses.
fn addressed(method: &'static str, [by_id, by_recipient]: [Code; 2], more: Value) -> Vec<Case> {
    let ways = [
        (by_id, json!({"conversation_id": "anna-talk"})),
        (by_id, json!({"conversation_id": "anna-ended"})),
        (by_id, json!({"conversation_id": "anna-talk", "recipient_id": "anna-recipient"})),
        (by_recipient, json!({"recipient_id": "anna-recipient"})),
        (by_recipient, json!({})),
    ];
    let request = |(code, mut address): (Code, Value)| {
        let more = more.as_object().expect("fields").clone();
        address.as_object_mut().expect("fields").extend(more);
        case(method, code, address)
    };
    ways.map(request).into()
}

/// Changes something that does not exist, without creating it.
const MISSING: [Code; 2] = [Code::NotFound, Code::NotFound];
/// Reads.
const BLANK: [Code; 2] = [Code::NotFound, Code::Ok];
/// Creates the caller's own.
const STARTS: [Code; 2] = [Code::Ok, Code::Ok];
