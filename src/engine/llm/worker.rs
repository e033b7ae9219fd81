//! Asking the model about whatever waits for it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{job::Job, model::Llm, summarizer::LlmSummarizer};
use crate::{
    engine::{Engine, EngineError},
    store::WorkerId,
};

/// Without news, the queue is looked at so often: another process may have written to the store.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// Conversations of the queue that are looked at in one read.
const PAGE: usize = 64;

impl Engine {
    /// The engine with a model that tells summaries anew: at most `concurrency` calls at once, with the
    /// prompts of a version. It is asked by [`Self::run_llm_summaries`].
    pub fn with_summarizer(
        mut self,
        summarizer: Arc<dyn LlmSummarizer>,
        prompt: u32,
        concurrency: usize,
        timeout: Duration,
    ) -> Self {
        let news = self.events.tell_of_waiting();
        let worker = WorkerId(self.clock.unique());
        self.llm = Some(Arc::new(Llm::new(summarizer, worker, prompt, concurrency, timeout, news)));
        self
    }

    /// Whether a model is configured.
    pub fn has_summarizer(&self) -> bool {
        self.llm.is_some()
    }

    /// Has models tell whatever waits for it, until dropped; calls that are out are dropped with it.
    pub async fn run_llm_summaries(self: Arc<Self>) {
        let Some(llm) = self.llm.clone() else { return std::future::pending().await };
        let mut calls = tokio::task::JoinSet::new();
        loop {
            let next = self.start_calls(&llm, &mut calls).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not read what waits for a model");
                None
            });
            let look = Instant::now() + LOOK_INTERVAL;
            tokio::select! {
                biased;
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
                let job = Job::begin(self.clone(), llm.clone(), key.clone(), permit);
                calls.spawn(job.run());
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.clone()),
                _ => return Ok(next),
            }
        }
    }
}
