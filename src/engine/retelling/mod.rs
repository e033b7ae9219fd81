//! Models tell segments anew, behind everything else.
//!
//! A segment that awaits a model is its own place in the queue: the store has an index of the
//! conversations that have one, so that the work goes on after a restart. No write waits for a model; what
//! it answers is a change like any other, which is dropped when the segment is not there any more or
//! something was forgotten meanwhile.

mod breaker;
mod job;
mod material;
mod on_demand;
mod standing;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

use crate::{
    domain::ConversationKey,
    engine::{Engine, EngineError, llm::LlmSummarizer},
};
use breaker::{Backoff, Breaker};

pub use on_demand::Waited;
pub use standing::LlmStanding;

/// Without news, the queue is looked at so often: another process may have written to the store.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// Conversations of the queue that are looked at in one read.
const PAGE: usize = 64;
/// Conversations whose failures are remembered.
const MOST_REMEMBERED: usize = 10_000;

/// A model, and how it is asked.
pub(super) struct Llm {
    summarizer: Arc<dyn LlmSummarizer>,
    /// The most that is waited for an answer to a call.
    timeout: Duration,
    /// The version of the prompts.
    prompt: u32,
    /// Calls that may be out at once.
    permits: Arc<Semaphore>,
    breaker: Mutex<Breaker>,
    queue: Mutex<Queue>,
    /// Something was queued, or a call has ended.
    news: Arc<Notify>,
    standing: standing::Counts,
}

/// What is known of the conversations that wait.
#[derive(Default)]
struct Queue {
    /// Those that a model is being asked about.
    busy: HashSet<ConversationKey>,
    backoffs: HashMap<ConversationKey, Backoff>,
}

impl Engine {
    /// The engine with a model that tells summaries anew: at most `concurrency` calls at once, with the
    /// prompts of a version. It is asked by [`Self::retell_forever`].
    pub fn with_summarizer(
        mut self,
        summarizer: Arc<dyn LlmSummarizer>,
        prompt: u32,
        concurrency: usize,
        timeout: Duration,
    ) -> Self {
        let news = self.events.tell_of_segments();
        self.llm = Some(Arc::new(Llm {
            summarizer,
            timeout,
            prompt,
            permits: Arc::new(Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            breaker: Mutex::default(),
            queue: Mutex::default(),
            news,
            standing: standing::Counts::default(),
        }));
        self
    }

    /// Whether a model is configured.
    pub fn has_summarizer(&self) -> bool {
        self.llm.is_some()
    }

    /// Has models tell whatever waits for it, until dropped; calls that are out are dropped with it.
    pub async fn retell_forever(self: Arc<Self>) {
        let Some(llm) = self.llm.clone() else { return std::future::pending().await };
        let mut calls = tokio::task::JoinSet::new();
        loop {
            let next = self.start_calls(&llm, &mut calls).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not read what waits for a model");
                None
            });
            let look = Instant::now() + LOOK_INTERVAL;
            tokio::select! {
                () = llm.news.notified() => {}
                () = tokio::time::sleep_until(next.unwrap_or(look).min(look)) => {}
                Some(_) = calls.join_next() => {}
            }
        }
    }

    /// Asks about as many conversations as may be asked about; answers when there may be more.
    async fn start_calls(
        self: &Arc<Self>,
        llm: &Arc<Llm>,
        calls: &mut tokio::task::JoinSet<()>,
    ) -> Result<Option<Instant>, EngineError> {
        let (mut after, mut next) = (None, None);
        if llm.permits.available_permits() == 0 {
            return Ok(None);
        }
        loop {
            let page = self.store.waiting(after, PAGE).await?;
            for (_, key) in &page {
                let Ok(permit) = llm.permits.clone().try_acquire_owned() else { return Ok(None) };
                let now = Instant::now();
                if let Some(until) = llm.queue.lock().held_back(key, now) {
                    next = next.into_iter().chain(until).min();
                    continue;
                }
                if let Err(until) = llm.breaker.lock().allows(now) {
                    return Ok(until);
                }
                let job = job::Job::begin(self.clone(), llm.clone(), key.clone(), permit);
                calls.spawn(job.run());
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.clone()),
                _ => return Ok(next),
            }
        }
    }
}

impl Queue {
    /// Whether the conversation is not to be asked about now, and until when, where that is known.
    fn held_back(&mut self, key: &ConversationKey, now: Instant) -> Option<Option<Instant>> {
        if self.busy.contains(key) {
            return Some(None);
        }
        self.backoffs.get(key)?.until(now).map(Some)
    }

    /// What failed with the conversation.
    fn backoff(&mut self, key: &ConversationKey) -> &mut Backoff {
        if self.backoffs.len() >= MOST_REMEMBERED {
            self.backoffs.clear();
        }
        self.backoffs.entry(key.clone()).or_default()
    }
}
