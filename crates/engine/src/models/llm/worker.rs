//! Calls the model for the waiting conversations.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{job::Job, model::Llm, summarizer::LlmSummarizer};
use crate::{Engine, Result, models::turns::Turns};
use utterd_store::WorkerId;

/// How often the queue is checked without a notification: another process may have written to the store.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// The most conversations of a namespace that get a turn before the queue is read again.
const LINE: usize = 16;
/// The number of queue entries per read.
const PAGE: usize = 1_024;

impl Engine {
    /// Adds a model that rewrites summaries, with at most `concurrency` calls in flight and the prompts of
    /// version `prompt`. The model is called by [`Self::run_llm_summaries`].
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

    /// Returns the models that a conversation may name as its own; none if no model is configured.
    pub fn models(&self) -> Vec<&str> {
        self.llm.as_ref().map(|llm| llm.summarizer.models()).unwrap_or_default()
    }

    /// Has the model write the waiting segments and closings, until dropped. Calls in flight are dropped too.
    pub async fn run_llm_summaries(self: Arc<Self>) {
        let Some(llm) = self.llm.clone() else { return std::future::pending().await };
        let (mut turns, mut calls) = (Turns::new(LINE), tokio::task::JoinSet::new());
        loop {
            let next = self.start_calls(&llm, &mut turns, &mut calls).await.unwrap_or_else(|error| {
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

    /// Starts as many calls as allowed. Returns when more may be allowed, if known.
    async fn start_calls(
        self: &Arc<Self>,
        llm: &Arc<Llm>,
        turns: &mut Turns,
        calls: &mut tokio::task::JoinSet<()>,
    ) -> Result<Option<Instant>> {
        turns.renew();
        loop {
            let Ok(permit) = llm.permits.clone().try_acquire_owned() else { return Ok(None) };
            let next = if turns.is_empty() { self.read_queue(llm, turns).await? } else { None };
            let Some(key) = turns.take() else { return Ok(next) };
            let now = Instant::now();
            // the conversation may have failed, or its call may have started, since it was found
            if llm.queue.lock().held_back(&key, now).is_some() {
                continue;
            }
            if let Err(until) = llm.breaker.lock().allows(now) {
                return Ok(until);
            }
            calls.spawn(Job::begin(self.clone(), llm.clone(), key, permit).run());
        }
    }

    /// Reads the whole queue, and lines up the conversations for which the model may be called. Returns when
    /// more of them may be, if known.
    async fn read_queue(&self, llm: &Llm, turns: &mut Turns) -> Result<Option<Instant>> {
        let (mut after, mut next, mut waiting) = (None, None, BTreeMap::new());
        turns.start();
        loop {
            let page = self.store.waiting(after, PAGE).await?;
            let now = Instant::now();
            for (since, key) in &page {
                waiting.entry(key.namespace.clone()).or_insert(*since);
                match llm.queue.lock().held_back(key, now) {
                    Some(until) => next = next.into_iter().chain(until).min(),
                    None => turns.add(key),
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.clone()),
                _ => break,
            }
        }
        *llm.waiting.lock() = waiting;
        Ok(next)
    }
}
