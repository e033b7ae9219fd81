//! Values of conversations: keys, identities, outcomes and drafts.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{Outcome, OutcomeKey, PointerWrite, RecipientKey, Reference};
use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, More,
    Namespace, Ranges, RecipientId, RequestId, Role, Sequence, Timestamp, ToolCall, UtteranceId,
    capacity::Capacity, forget::erasure::InForks,
};

/// The start of every script: noon of 1 March 2026, UTC.
pub const START: Timestamp = Timestamp(1_772_366_400_000_000);
/// The recipient of the conversations, unless a case names another.
pub const RECIPIENT: &str = "ann";

/// A conversation's key in the namespace `default`.
pub fn key(id: &str) -> ConversationKey {
    key_in("default", id)
}

pub fn key_in(namespace: &str, id: &str) -> ConversationKey {
    let id = ConversationId::new(id).expect("a conversation's id");
    ConversationKey { namespace: Namespace::new(namespace).expect("a namespace"), id }
}

/// A change id that is unique in this process.
pub fn change() -> ChangeId {
    ChangeId(lineage().0)
}

/// A lineage that is unique in this process.
pub fn lineage() -> LineageId {
    static LINEAGES: AtomicU64 = AtomicU64::new(1);
    let lineage = u128::from(LINEAGES.fetch_add(1, Ordering::Relaxed)) << 64;
    LineageId(lineage.to_be_bytes())
}

/// An identity with a lineage of its own.
pub fn identity(key: ConversationKey, recipient: &str) -> Identity {
    Identity {
        key,
        recipient: RecipientId::new(recipient).expect("a recipient"),
        lineage: lineage(),
        start_time: START,
        encoding: Encoding::Cl100kBase,
    }
}

pub fn recipient(id: &str) -> RecipientKey {
    RecipientKey { namespace: Namespace::default(), id: RecipientId::new(id).expect("a recipient") }
}

/// Makes `id` the active conversation of a recipient who has none.
pub fn activating(recipient: &RecipientKey, id: &str) -> PointerWrite {
    let after = Some(ConversationId::new(id).expect("a conversation's id"));
    PointerWrite { recipient: recipient.clone(), before: None, after }
}

pub fn attempt(id: &str) -> OutcomeKey {
    let request = RequestId::new(id).expect("a request id");
    OutcomeKey { namespace: Namespace::default(), rpc: "Memorize", request }
}

/// The outcome of a call at `time` that resulted in `state`.
pub fn outcome(state: &Conversation, time: Timestamp) -> Arc<Outcome> {
    Arc::new(Outcome {
        body: u128::MAX - 7,
        time,
        conversation: state.key().id.clone(),
        revision: state.head.revision,
        started: true,
        ended: Some(ConversationId::new("before").expect("a conversation's id")),
        memorized: Ranges::of(Sequence(3), Sequence(9)),
        evicted: [1, 2, 5].map(Sequence).into_iter().collect(),
        forgotten: Ranges::of(Sequence(4), Sequence(4)),
        restored: Ranges::of(Sequence(6), Sequence(7)),
        target: Some(Sequence(8)),
        still_told: Ranges::of(Sequence(1), Sequence(2)),
        rebuilt_segments: 2,
        capacity: Capacity::of(state),
        references: vec![
            Reference {
                sequence: Sequence(1),
                id: UtteranceId::Assigned(state.head.identity.lineage),
                role: Role::User,
                turn: 0,
                tokens: 12,
                position: None,
                late: false,
            },
            Reference {
                sequence: Sequence(3),
                id: UtteranceId::given("mine").expect("an id"),
                role: Role::Tool,
                turn: 2,
                tokens: 0,
                position: Some(1),
                late: true,
            },
        ],
        in_forks: Some(InForks { conversations: 2, utterances: 3 }),
    })
}

pub fn said(role: Role, content: &str) -> Draft {
    Draft::of(role, content, More::default())
}

pub fn user(content: &str) -> Draft {
    said(Role::User, content)
}

pub fn named(id: &str, content: &str) -> Draft {
    Draft { id: Some(id.into()), ..user(content) }
}

/// `count` user utterances that contain their number.
pub fn users(count: usize) -> Vec<Draft> {
    (1..=count).map(|number| user(&format!("The code of room {number} is R-{number}."))).collect()
}

/// An assistant's tool call.
pub fn call(id: &str) -> Draft {
    let call = ToolCall { id: id.into(), name: "find".into(), arguments_json: "{\"n\":1}".into() };
    let more = More { tool_calls: vec![call], ..More::default() };
    Draft::of(Role::Assistant, "", more)
}

/// A tool's result.
pub fn result(id: &str, content: &str) -> Draft {
    let more = More { tool_call_id: Some(id.into()), ..More::default() };
    Draft::of(Role::Tool, content, more)
}
