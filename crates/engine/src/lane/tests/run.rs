//! What a panic leaves of a queue.

use std::sync::Arc;

use crate::{
    Address, Caller, Engine, EngineError, MemorizeReply, Operation, Result,
    lane::{
        queued::{Ruling, WriteCall},
        tests::{self, saying},
    },
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Namespace, Policy, Sequence, change::Context,
};
use utterd_store::MemoryStore;
use utterd_telemetry::panics::Within;

#[tokio::test]
async fn a_rule_that_panics_fails_its_write_alone() {
    let (engine, before) = (engine(), Within::Queue.panics());
    assert_eq!(sequence(say(&engine).await), 1);
    let hold = engine.hold(&key()).await;
    let let_go = async { drop(hold) };
    let (first, bad, second, other, third, ()) =
        tokio::join!(say(&engine), panic(&engine), say(&engine), panic(&engine), say(&engine), let_go);
    assert_eq!([bad, other], [Err(EngineError::Panicked), Err(EngineError::Panicked)]);
    assert_eq!([first, second, third].map(sequence), [2, 3, 4], "as if the others were not there");
    assert!(!engine.queues.of(&key()).is_busy());
    assert_eq!(sequence(say(&engine).await), 5, "the queue is usable");
    assert!(Within::Queue.panics() >= before + 2);
}

/// Whoever drives the queue is not the one whose write panics.
#[tokio::test]
async fn the_driver_of_a_queue_outlives_the_panic_of_another() {
    let engine = engine();
    let (driver, bad, after) = tokio::join!(say_slowly(&engine), panic(&engine), say(&engine));
    assert_eq!((driver, bad), (Ok(()), Err(EngineError::Panicked)));
    assert_eq!(sequence(after), 1);
}

/// Stores one more utterance.
async fn say(engine: &Arc<Engine>) -> Result<MemorizeReply> {
    engine.memorize(&Caller::default(), saying(address(), None)).await
}

/// A write whose rule panics.
async fn panic(engine: &Arc<Engine>) -> Result<()> {
    let write = engine
        .write(call(), |_: &Conversation, _: &Context<'_>| -> Ruling<()> { panic!("the rule of a test") });
    write.await.map(drop)
}

/// A write that holds the queue while others enter it.
async fn say_slowly(engine: &Arc<Engine>) -> Result<()> {
    let hold = engine.hold(&key()).await;
    tokio::task::yield_now().await;
    drop(hold);
    Ok(())
}

fn call() -> WriteCall {
    let mut call = WriteCall::new(&Caller::default(), address(), None, Operation::Memorize);
    call.if_absent = crate::lane::queued::IfAbsent::CreateAndActivate;
    call
}

fn key() -> ConversationKey {
    ConversationKey { namespace: Namespace::default(), id: ConversationId::new("c").unwrap() }
}

fn address() -> Address {
    Address { conversation: Some(key().id), ..Address::default() }
}

fn sequence(reply: Result<MemorizeReply>) -> u64 {
    let state = reply.unwrap().state.unwrap();
    let Sequence(next) = state.head.next;
    next - 1
}

fn engine() -> Arc<Engine> {
    tests::engine(MemoryStore::new(0), Policy::SESSION, 64 << 20)
}
