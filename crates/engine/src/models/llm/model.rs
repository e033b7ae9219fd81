//! A model, its calls, and the conversations waiting for it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

use super::{
    meters::Meters,
    summarizer::{LlmError, LlmSummarizer, LlmSummary, Material, Usage, call_within},
    tenant::Tenants,
};
use crate::models::breaker::{Backoff, Breaker};
use utterd_domain::{ConversationKey, Namespace, Timestamp};
use utterd_store::WorkerId;
use utterd_telemetry::Span;

/// The number of conversations whose failures are remembered.
const MOST_REMEMBERED: usize = 10_000;

/// A model and its calls.
pub(crate) struct Llm {
    pub(super) summarizer: Arc<dyn LlmSummarizer>,
    /// The name this process uses for claims.
    pub(super) worker: WorkerId,
    /// The longest wait for the answer to a call.
    pub(super) timeout: Duration,
    /// The version of the prompts.
    pub(super) prompt: u32,
    /// Permits for calls in flight.
    pub(super) permits: Arc<Semaphore>,
    pub(super) breaker: Mutex<Breaker>,
    pub(super) queue: Mutex<Queue>,
    /// Notified when something is queued, or a call has ended.
    pub(super) news: Arc<Notify>,
    pub(super) tenants: Tenants,
    pub(super) meters: Meters,
    /// The time since which each namespace has been waiting, as of the last read of the queue.
    pub(super) waiting: Mutex<BTreeMap<Namespace, Timestamp>>,
    /// Whether a warning was logged that a conversation names a model that is not accepted.
    told: AtomicBool,
}

/// The conversations that are busy or held back.
#[derive(Default)]
pub(super) struct Queue {
    /// The conversations with a call in flight.
    pub(super) busy: HashSet<ConversationKey>,
    pub(super) backoffs: HashMap<ConversationKey, Backoff>,
}

impl Llm {
    /// Creates a model with at most `concurrency` calls in flight; `news` is notified when something is
    /// queued.
    pub(super) fn new(
        summarizer: Arc<dyn LlmSummarizer>,
        worker: WorkerId,
        prompt: u32,
        concurrency: usize,
        timeout: Duration,
        news: Arc<Notify>,
    ) -> Self {
        let concurrency = concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            summarizer,
            worker,
            timeout,
            prompt,
            permits: Arc::new(Semaphore::new(concurrency)),
            breaker: Mutex::default(),
            queue: Mutex::default(),
            news,
            tenants: Tenants::sharing(concurrency),
            meters: Meters::new(),
            waiting: Mutex::default(),
            told: AtomicBool::new(false),
        }
    }

    /// Calls the model for a namespace: the conversation's own model, or the server's if there is no such
    /// model, it is not accepted, or the call is refused.
    pub(super) async fn ask(
        &self,
        namespace: &Namespace,
        mut material: Material,
    ) -> Result<LlmSummary, LlmError> {
        material.model = material.model.take().filter(|own| self.accepts(own));
        let Some(own) = material.model.clone() else { return self.ask_once(namespace, material).await };
        match self.ask_once(namespace, material.clone()).await {
            Err(refused @ LlmError::Refused(_)) => {
                tracing::warn!(model = &*own, error = ?refused, "the conversation's own model was refused");
                material.model = None;
                self.ask_once(namespace, material).await
            }
            answer => answer,
        }
    }

    /// Whether a conversation's own model may be called. The policy may have been stored when other models
    /// were accepted.
    fn accepts(&self, own: &str) -> bool {
        let accepted = self.summarizer.models().contains(&own);
        if !accepted && !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a conversation's summary_model is not one of llm_models: such conversations use the server's model"
            );
        }
        accepted
    }

    /// Calls a model once, and records the result.
    async fn ask_once(&self, namespace: &Namespace, material: Material) -> Result<LlmSummary, LlmError> {
        let tenant = self.tenants.of(namespace);
        let own = material.model.is_some();
        let in_flight = tenant.call();
        let timer = self.meters.call.start_timer();
        let span = Span::of_model("chat", material.model.as_deref().unwrap_or(self.summarizer.model()));
        let answer = call_within(self.timeout, async { self.summarizer.summarize(material).await }).await;
        timer.observe_duration();
        drop(in_flight);
        self.meters.called(&answer);
        if let Some(span) = span {
            end(&span, &answer);
        }
        let now = Instant::now();
        let mut breaker = self.breaker.lock();
        match &answer {
            Ok(_) | Err(LlmError::Unusable(_)) => breaker.succeeded(),
            Err(LlmError::Unavailable { retry_after, .. }) => breaker.failed(now, *retry_after),
            // an unknown model of one conversation says nothing about the others
            Err(LlmError::Refused(_)) if own => breaker.undecided(),
            Err(LlmError::Refused(_)) => breaker.failed(now, None),
        }
        drop(breaker);
        if answer.is_err() {
            tenant.standing.lock().failed += 1;
        }
        answer
    }

    /// Calls the model for a waiting caller of a namespace as soon as there is a free permit. Fails if calls
    /// are held back.
    pub(super) async fn ask_in_turn(
        &self,
        namespace: &Namespace,
        material: Material,
    ) -> Result<LlmSummary, String> {
        let tenant = self.tenants.of(namespace);
        let _room = tenant.room.acquire().await.map_err(|error| error.to_string())?;
        let permit = self.permits.acquire().await.map_err(|error| error.to_string())?;
        if self.breaker.lock().allows(Instant::now()).is_err() {
            return Err(
                "the model is not available: its recent calls failed, so new ones are paused".to_owned()
            );
        }
        let told = self.ask(namespace, material).await;
        drop(permit);
        // the queued work waits for the same permits
        self.news.notify_one();
        told.map_err(|error| error.to_string())
    }
}

/// Ends the span of a call to a model.
fn end(span: &Span, answer: &Result<LlmSummary, LlmError>) {
    if let Ok(LlmSummary { model, usage, .. }) = answer {
        span.note("gen_ai.response.model", model.clone());
        if let Some(Usage { input, output }) = usage {
            span.note("gen_ai.usage.input_tokens", i64::try_from(*input).unwrap_or(i64::MAX));
            span.note("gen_ai.usage.output_tokens", i64::try_from(*output).unwrap_or(i64::MAX));
        }
    }
    span.end(answer.as_ref().err().map(LlmError::kind));
}

impl Queue {
    /// Returns until when the conversation is held back: `None` if it is not, and `Some(None)` if the time is
    /// unknown.
    pub(super) fn held_back(&mut self, key: &ConversationKey, now: Instant) -> Option<Option<Instant>> {
        if self.busy.contains(key) {
            return Some(None);
        }
        self.backoffs.get(key)?.until(now).map(Some)
    }

    /// Returns the backoff of the conversation.
    pub(super) fn backoff(&mut self, key: &ConversationKey) -> &mut Backoff {
        if self.backoffs.len() >= MOST_REMEMBERED {
            self.backoffs.clear();
        }
        self.backoffs.entry(key.clone()).or_default()
    }
}
