//! Two engines, each with a model: one of them does the waiting work.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use tokio::task::AbortHandle;
use utterd::{engine::Engine, proto::memory_service_server::MemoryService, rpc::Services};

use super::{
    calls::{compact, say, says_in, summary},
    pair::Pair,
};
use crate::support::{
    model::{Call, Model},
    prelude::*,
};

/// How often both try the same work.
const ROUNDS: usize = 10;
/// The maximum duration of a claim.
const LEASE: Duration = Duration::from_secs(10 * 60);

/// A worker that ends with the test.
struct Worker(AbortHandle);

impl Worker {
    fn start(engine: &Arc<Engine>) -> Self {
        Self(tokio::spawn(engine.clone().run_llm_summaries()).abort_handle())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Compacts a new conversation, so that a segment waits for a model.
async fn compacted(at: &Services, id: &str) {
    for number in 1..=40 {
        let note =
            format!("Note {number} of {id}: the pump of tank T-{number} failed and was replaced on Monday.");
        say(at, says_in(id, &note)).await;
    }
    compact(at, id, 15).await;
}

/// Waits until nothing in a conversation waits for a model.
async fn until_told(at: &Services, id: &str) {
    let request = WatchCapacityRequest { conversation_id: id.to_owned(), ..Default::default() };
    let watch = at.watch_capacity(Request::new(request)).await.expect("the conversation is there");
    let mut watch = watch.into_inner();
    loop {
        let seen = watch.next().await.expect("the watch goes on").expect("the conversation is there");
        let summary = seen.capacity.and_then(|capacity| capacity.summary).expect("a summary");
        if summary.provisional_segment_count() == 0 {
            return;
        }
    }
}

/// A model call for a conversation.
async fn called(model: &Model, id: &str) -> Call {
    let call = model.called().await;
    assert!(call.shown().contains(&format!("of {id}:")), "{}", call.shown());
    call
}

pub async fn what_waits_is_paid_for_once(pair: &Pair) {
    let models = [Model::new(), Model::new()];
    let pair = pair.with_models(&models);
    let _workers = [Worker::start(&pair.engine), Worker::start(&pair.others_engine)];
    compacted(&pair.one, "a").await;
    let call = called(&models[0], "a").await;
    // it comes later: the other has passed the first by
    compacted(&pair.other, "b").await;
    called(&models[1], "b").await.tell("- The pumps of b were replaced.");
    call.tell("- The pumps of a were replaced.");
    for id in ["a", "b"] {
        until_told(&pair.one, id).await;
        until_told(&pair.other, id).await;
        assert_eq!(summary(&pair.other, id).await, format!("- The pumps of {id} were replaced.\n"));
    }

    assert!(models.iter().all(|model| model.take(0).is_none()), "nobody was asked again");

    let calls = Arc::new(AtomicUsize::new(0));
    let telling = models.map(|model| {
        let calls = calls.clone();
        tokio::spawn(async move {
            loop {
                let call = model.called().await;
                calls.fetch_add(1, Ordering::Relaxed);
                call.tell("- The pumps were replaced.");
            }
        })
    });
    for round in 0..ROUNDS {
        let (one, other) = (format!("one {round}"), format!("other {round}"));
        futures::join!(compacted(&pair.one, &one), compacted(&pair.other, &other));
        until_told(&pair.other, &one).await;
        until_told(&pair.one, &other).await;
    }
    telling.iter().for_each(|telling| telling.abort());
    assert_eq!(calls.load(Ordering::Relaxed), 2 * ROUNDS);
}

pub async fn a_worker_that_died_is_followed_by_the_other(pair: &Pair) {
    let models = [Model::new(), Model::new()];
    let pair = pair.with_models(&models);
    let worker = Worker::start(&pair.engine);
    compacted(&pair.one, "a").await;
    let call = called(&models[0], "a").await;
    drop(worker);
    pair.clock.advance(LEASE);
    let _worker = Worker::start(&pair.others_engine);
    called(&models[1], "a").await.tell("- The pumps were replaced.");
    until_told(&pair.one, "a").await;
    call.tell("- Too late.");
    assert_eq!(summary(&pair.one, "a").await, "- The pumps were replaced.\n");
}
