//! MemoryService.

use serde_json::{Value, json};
use tonic::Code;

use super::{BLANK, Case, MISSING, STARTS, addressed, case};
use crate::isolation::anna::{self, Names, paged};

pub fn cases(names: &Names) -> Vec<Case> {
    let prompt = json!({"prompt": "Where is the zebra?"});
    let of_all = json!({"prompt": "zebra", "scope": "REMEMBER_SCOPE_RECIPIENT"});
    let hard = json!({"instructions": "all", "mode": "FORGET_MODE_HARD"});
    let ids = json!({"utterance_ids": [names.utterance, "anna-utterance"]});
    let session = json!({"session_id": "anna-session"});
    [
        memorize(names),
        addressed("Remember", BLANK, prompt),
        addressed("Remember", BLANK, of_all),
        vec![case("Remember", Code::Ok, paged::at(paged::found(), &names.found_page))],
        addressed("Forget", MISSING, json!({"instructions": "newest"})),
        addressed("Forget", MISSING, json!({"instructions": "newest", "dry_run": true})),
        addressed("Forget", MISSING, hard),
        addressed("Restore", MISSING, ids.clone()),
        vec![case("Restore", Code::NotFound, own(ids))],
        addressed("Summarize", BLANK, json!({})),
        addressed("GetCapacityInfo", BLANK, session.clone()),
        vec![case("GetCapacityInfo", Code::Ok, own(session.clone()))],
        addressed("WatchCapacity", BLANK, session),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn memorize(names: &Names) -> Vec<Case> {
    let said = json!({"utterances": [
        {"role": "ROLE_USER", "content": "Mine.", "utterance_id": "anna-utterance"},
        {"role": "ROLE_USER", "content": "Mine too.", "utterance_id": names.share},
    ]});
    let result =
        json!({"utterances": [{"role": "ROLE_TOOL", "tool_call_id": "anna-call", "content": "found"}]});
    let expecting = json!({"conversation_id": "anna-talk", "expected_revision": names.revision});
    let stream = addressed("MemorizeStream", STARTS, json!({}));
    let stream = stream.into_iter().map(|mut case| {
        let add = |more: &Value| {
            let mut request = case.messages[0].clone();
            request.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
            json!({"memorize": request})
        };
        case.messages = vec![add(&said), add(&result), add(&expecting)];
        case
    });
    let mut cases: Vec<_> = stream.collect();
    cases.extend(addressed("Memorize", STARTS, said.clone()));
    cases.push(case("Memorize", Code::Ok, anna::memorize()));
    cases.push(case("Memorize", Code::FailedPrecondition, own(result)));
    let mut expecting = expecting;
    expecting["utterances"] = said["utterances"].clone();
    cases.push(case("Memorize", Code::Aborted, expecting));
    cases
}

/// A request about the caller's own conversation.
fn own(mut request: Value) -> Value {
    request["conversation_id"] = "own-talk".into();
    request
}
