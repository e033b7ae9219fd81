//! Forks over a slow or failing store: what is visible, to whom, and when.

use std::future::Future;

use futures::FutureExt;
use tokio::task::JoinHandle;
use tonic::Response;
use utterd::proto::memory_service_server::MemoryService;

use crate::support::prelude::*;

async fn gated() -> (Session, Arc<Gate>) {
    let gate = Gate::new();
    (Session::over(gate.clone()).await, gate)
}

type Forking = JoinHandle<Result<Response<ForkConversationResponse>, Status>>;

fn start_fork(session: &Session, id: &str) -> Forking {
    let mut conversations = session.conversations();
    let request = ForkConversationRequest { new_conversation_id: id.to_owned(), ..Default::default() };
    tokio::spawn(async move { conversations.fork_conversation(request).await })
}

fn start<F: Future<Output: Send + 'static> + Send + 'static>(call: F) -> JoinHandle<F::Output> {
    tokio::spawn(call)
}

fn in_fork(utterances: Vec<NewUtterance>) -> MemorizeRequest {
    MemorizeRequest { conversation_id: "fork".to_owned(), ..memorize(utterances) }
}

async fn stored(session: &Session, id: &str) -> Vec<i64> {
    let conversation_id = id.to_owned();
    let request = ListUtterancesRequest { conversation_id, include_archive: true, ..Default::default() };
    sequences_of(&session.list(request).await)
}

/// Until its flush is done nobody sees a fork; then everybody sees both conversations.
#[tokio::test]
async fn a_fork_is_published_after_its_flush() {
    let (session, gate) = gated().await;
    session.say(vec![user("one")]).await;
    let before = session.cursor();
    gate.shut();
    let fork = start_fork(&session, "fork");
    gate.holds(1).await;
    let get = || GetConversationRequest { conversation_id: "fork".to_owned(), ..Default::default() };
    let refusal = session.conversations().get_conversation(get()).await.refusal();
    refusal.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    assert_eq!(session.cursor(), before, "no event goes out");
    assert_eq!((session.capacity().await.revision, fork.is_finished()), (1, false));
    gate.open();
    assert_eq!(fork.await.unwrap().reply().conversation.unwrap().revision, 1);
    assert_eq!(session.capacity().await.revision, 1, "the parent is not changed by it");
    session.conversations().get_conversation(get()).await.reply();
}

/// A failed fork leaves nothing on either side; what waits behind it is decided on what is stored.
#[tokio::test]
async fn a_fork_that_fails_leaves_nothing() {
    let (session, gate) = gated().await;
    session.say(vec![user("one")]).await;
    gate.shut();
    let fork = start_fork(&session, "fork");
    gate.holds(1).await;
    let mut memory = session.memory();
    let behind = start(async move { memory.memorize(memorize(vec![user("two")])).await });
    settle().await;
    assert_eq!(gate.held(), 1, "what comes behind it waits");
    gate.fail(1);
    Refused::new(fork.await.unwrap().unwrap_err()).is(Code::Unavailable, "STORE_UNAVAILABLE");
    gate.open();
    let behind = behind.await.unwrap().reply();
    assert_eq!((behind.revision, behind.memorized[0].sequence), (2, 2));
    start_fork(&session, "fork").await.unwrap().reply();
    assert_eq!(stored(&session, "fork").await, [1, 2]);
}

/// A message to a fork that is not flushed sees everything in the fork, including its archive.
#[tokio::test]
async fn a_message_behind_a_fork_knows_its_archive() {
    let (session, gate) = gated().await;
    session.say(vec![NewUtterance { utterance_id: "first".to_owned(), ..user("one") }]).await;
    session.say_many(30).await;
    gate.shut();
    let fork = start_fork(&session, "fork");
    gate.holds(1).await;
    let taken = NewUtterance { utterance_id: "first".to_owned(), ..user("again") };
    let mut memory = session.memory();
    let plain = start(async move { memory.memorize(in_fork(vec![user("plain")])).await });
    settle().await;
    let services = session.server.services();
    let mut taken = Box::pin(services.memorize(Request::new(in_fork(vec![taken]))));
    assert!((&mut taken).now_or_never().is_none(), "it waits for the archive");
    gate.open();
    fork.await.unwrap().reply();
    Refused::new(taken.await.unwrap_err()).is(Code::AlreadyExists, "UTTERANCE_EXISTS");
    assert_eq!(plain.await.unwrap().reply().memorized[0].sequence, 32);
    assert_eq!(stored(&session, "fork").await, (1..=32).collect::<Vec<_>>());
}

/// A hard forget that arrives while a fork is being flushed reaches it.
#[tokio::test]
async fn a_hard_forget_reaches_a_fork_in_flight() {
    let (session, gate) = gated().await;
    let parent = session.say(vec![user("one"), user("two")]).await.conversation_id;
    gate.shut();
    let fork = start_fork(&session, "fork");
    gate.holds(1).await;
    let services = session.server.services();
    let mut erased = Box::pin(services.forget(Request::new(forget("sequence:1", ForgetMode::Hard))));
    assert!((&mut erased).now_or_never().is_none(), "it waits for the fork");
    assert_eq!(gate.held(), 1);
    gate.open();
    fork.await.unwrap().reply();
    assert_eq!(erased.await.unwrap().into_inner().forgotten.len(), 1);
    assert_eq!((stored(&session, &parent).await, stored(&session, "fork").await), (vec![2], vec![2]));
}

/// It is one commit: if it fails, nothing is forgotten anywhere.
#[tokio::test]
async fn a_hard_forget_that_fails_forgets_nothing() {
    let (session, gate) = gated().await;
    let parent = session.say(vec![user("one"), user("two")]).await.conversation_id;
    start_fork(&session, "fork").await.unwrap().reply();
    gate.shut();
    let mut memory = session.memory();
    let request =
        ForgetRequest { conversation_id: "fork".to_owned(), ..forget("sequence:1", ForgetMode::Hard) };
    let erased = start(async move { memory.forget(request).await });
    gate.holds(1).await;
    assert_eq!(gate.held(), 1);
    gate.fail(1);
    Refused::new(erased.await.unwrap().unwrap_err()).is(Code::Unavailable, "STORE_UNAVAILABLE");
    gate.open();
    assert_eq!((stored(&session, &parent).await, stored(&session, "fork").await), (vec![1, 2], vec![1, 2]));
    session.say(vec![user("three")]).await;
    assert_eq!(
        session.memory().memorize(in_fork(vec![user("three")])).await.reply().memorized[0].sequence,
        3
    );
}
