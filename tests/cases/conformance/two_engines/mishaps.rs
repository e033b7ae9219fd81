//! Lost answers and commits, and what the other engine does meanwhile.

use utterd::{
    domain::{ConversationId, Draft, Encoding, More, Policy, RecipientId, Role},
    engine::{Caller, EngineError, ImportCall, Incoming, name},
    proto::{conversation_service_server::ConversationService, memory_service_server::MemoryService},
    rpc::Services,
};

use super::{
    calls::{Reply, contents, not_got, say, says_in, stored},
    pair::Pair,
};
use crate::support::prelude::*;

/// Deletes the conversation `c`.
async fn delete(at: Services) {
    let request = DeleteConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    at.delete_conversation(Request::new(request)).await.reply();
}

/// A forget that selects nothing: only the outcome of the request is committed.
fn forgets_nothing(request: &str) -> Request<ForgetRequest> {
    Request::new(ForgetRequest {
        conversation_id: "c".to_owned(),
        instructions: "speaker:tool".to_owned(),
        request_id: request.to_owned(),
        ..Default::default()
    })
}

pub async fn what_changed_nothing_is_answered_by_its_outcome(pair: &Pair) {
    say(&pair.one, says_in("c", "hello")).await;
    pair.store.lose_an_answer(delete(pair.other.clone()));
    let reply = pair.one.forget(forgets_nothing("kept")).await.reply();
    assert_eq!((reply.revision, reply.replayed), (1, false));
    assert!(pair.other.forget(forgets_nothing("kept")).await.reply().replayed);

    say(&pair.one, says_in("c", "hello again")).await;
    pair.store.lose_a_commit(delete(pair.other.clone()));
    assert_eq!(pair.one.forget(forgets_nothing("lost")).await.reason(), "CONVERSATION_NOT_FOUND");

    say(&pair.one, says_in("c", "hello once more")).await;
    pair.store.lose_a_commit(std::future::ready(()));
    assert!(!pair.one.forget(forgets_nothing("lost")).await.reply().replayed, "it is decided again");
    assert!(pair.other.forget(forgets_nothing("lost")).await.reply().replayed);
}

/// Imports `count` utterances into the conversation `c` of the recipient `ann`.
async fn import(pair: &Pair, count: usize) -> Result<usize, String> {
    let draft = |number: usize| Draft::of(Role::User, format!("message {number}"), More::default());
    let mut drafts: Vec<_> = (1..=count).map(draft).collect();
    name(&mut drafts);
    let incoming = Incoming {
        branch: None,
        id: ConversationId::new("c").expect("an id"),
        origin: "test",
        source: None,
        title: None,
        start: None,
        ends: None,
        labels: Default::default(),
        state: Vec::new(),
        summaries: Vec::new(),
        drafts,
    };
    let call = ImportCall {
        recipient: RecipientId::new("ann").expect("an id"),
        conversations: vec![incoming],
        policy: Policy::SESSION,
        encoding: Encoding::default(),
        into_existing: false,
        lenient: false,
        validate_only: false,
        once: false,
    };
    match pair.engine.import_conversations(&Caller::default(), call).await {
        Ok(replies) => Ok(replies.iter().map(|reply| reply.stored).sum()),
        Err(EngineError::Refused(refusal)) => Err(refusal.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// Starts the conversation `c` for `recipient`.
async fn start(at: Services, recipient: &str) {
    let request = MemorizeRequest { recipient_id: recipient.to_owned(), ..says_in("c", "mine") };
    say(&at, request).await;
}

pub async fn an_import_leaves_what_the_other_starts_alone(pair: &Pair) {
    for (recipient, why) in [("bob", "another recipient"), ("ann", "not from this import")] {
        pair.store.lose_a_commit(start(pair.other.clone(), recipient));
        let refused = import(pair, 10).await.expect_err("the name is taken");
        assert!(refused.contains(why), "{refused}");
        assert_eq!(contents(&pair.one, "c").await, ["mine"]);
        delete(pair.other.clone()).await;
    }
}

/// An import with several commits, whose conversation is deleted after the first.
pub async fn an_import_goes_on_in_its_own_conversation(pair: &Pair) {
    for (recipient, why) in [("bob", "another recipient"), ("ann", "not from this import")] {
        let other = pair.other.clone();
        pair.store.lose_an_answer(async move {
            delete(other.clone()).await;
            start(other, recipient).await;
        });
        let refused = import(pair, 1_500).await.expect_err("it is another conversation");
        assert!(refused.contains(why), "{refused}");
        assert_eq!(contents(&pair.one, "c").await, ["mine"]);
        delete(pair.other.clone()).await;
    }
    pair.store.lose_an_answer(delete(pair.other.clone()));
    import(pair, 1_500).await.expect_err("it is gone");
    assert_eq!(not_got(&pair.one, "c").await, "CONVERSATION_NOT_FOUND");
    assert_eq!(import(pair, 1_500).await, Ok(1_500));
    assert_eq!(stored(&pair.other, "c").await.len(), 1_000, "a page of them");
}
