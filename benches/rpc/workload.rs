//! The calls that are measured, and the conversations that they go to.

use std::sync::Arc;

use bytes::Bytes;
use utterd::proto::PolicyPreset;

use crate::{
    child::ServerProcess,
    empty,
    load::{self, Call},
    requests,
};

/// The names of the calls of [`unary`].
pub const NAMES: [&str; 9] = [
    "empty",
    "Memorize, SESSION",
    "Memorize, ROLLING",
    "GetCapacityInfo",
    "ListUtterances",
    "BuildContext",
    "Memorize, one",
    "100 messages as JSON",
    "Memorize, by recipient",
];

/// The calls in the order of their names. They go to `conversations` of each policy, whose windows are filled here; the
/// call named "one" goes to a single conversation.
pub fn unary(server: &ServerProcess, conversations: usize) -> [Call; 9] {
    let names = |of: fn(usize) -> String| (0..conversations).map(of).collect::<Vec<_>>();
    let (session, rolling) = (names(session), names(|index| format!("rolling-{index}")));
    let (one, json) = (vec!["one".to_owned()], names(|index| format!("json-{index}")));
    create(server, &session, PolicyPreset::Session);
    create(server, &one, PolicyPreset::Session);
    create(server, &rolling, PolicyPreset::Rolling);
    create(server, &json, PolicyPreset::Rolling);
    let full: Vec<_> = rolling.iter().map(|name| requests::memorize(name, 0, 40)).collect();
    load::all(&server.address, requests::MEMORIZE, full, 64);

    let each = |request: &dyn Fn(&str) -> Bytes| {
        Arc::new(rolling.iter().map(|name| request(name)).collect::<Vec<_>>())
    };
    let saying = |names: &[String], memorize: fn(&str, usize, usize) -> Bytes| {
        let sayings = (0..5).flat_map(|first| names.iter().map(move |name| memorize(name, first, 1)));
        Arc::new(sayings.collect::<Vec<_>>())
    };
    let memorize = |names: &[String]| saying(names, requests::memorize);
    [
        (empty::PATH, Arc::new(vec![Bytes::new()])),
        (requests::MEMORIZE, memorize(&session)),
        (requests::MEMORIZE, memorize(&rolling)),
        (requests::GET_CAPACITY, each(&requests::get_capacity)),
        (requests::LIST, each(&requests::list)),
        (requests::BUILD_CONTEXT, each(&|name| requests::build_context(name, None))),
        (requests::MEMORIZE, memorize(&one)),
        (requests::MEMORIZE, Arc::new(json.iter().map(|name| requests::memorize_json(name, 100)).collect())),
        (requests::MEMORIZE, saying(&session, requests::memorize_by_recipient)),
    ]
    .map(|(path, requests)| Call { path, requests })
}

/// The name of a conversation with the policy SESSION.
pub fn session(index: usize) -> String {
    format!("session-{index}")
}

/// Creates conversations.
pub fn create(server: &ServerProcess, names: &[String], preset: PolicyPreset) {
    let requests: Vec<_> = names.iter().map(|name| requests::create(name, preset)).collect();
    load::all(&server.address, requests::CREATE, requests, 64);
}
