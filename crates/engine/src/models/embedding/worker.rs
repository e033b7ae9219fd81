//! Embeds the waiting conversations, a batch at a time: background work needs no more than one call in
//! flight.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{Embedder, embeddings::Embeddings, prompts::beginning, vectors::SharedVectors};
use crate::{
    Engine, EngineError, Result,
    models::llm::{LlmError, call_within},
};
use utterd_domain::{
    Conversation, ConversationKey, Sequence, Utterance, limits::EMBEDDING_BATCH, values::embedding::Embedding,
};
use utterd_telemetry::panics::Within;

/// The number of utterances read at a time.
const READ: u64 = 256;
/// While more utterances are waiting, a block is stored once it has this many new embeddings.
const KEPT_AT_ONCE: usize = 256;
/// The pause after a failure; longer after several.
const PAUSE: Duration = Duration::from_secs(1);

/// The result of one round of embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedded {
    /// No conversation is waiting.
    Nothing,
    /// A conversation had its turn.
    Some,
    /// No call may go out before this time.
    NotBefore(Instant),
}

/// A batch of texts, and the utterances they belong to.
struct Batch {
    state: Arc<Conversation>,
    shared: SharedVectors,
    of: Vec<Sequence>,
    texts: Vec<String>,
}

impl Engine {
    /// Adds a model that embeds searched conversations, and up to `bytes` of memory for embeddings. The model
    /// is called by [`Self::run_embedding`].
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>, timeout: Duration, bytes: u64) -> Self {
        self.embeddings = Some(Arc::new(Embeddings::new(embedder, timeout, bytes)));
        self
    }

    /// Embeds the waiting conversations, until dropped. A call in flight is dropped too.
    pub async fn run_embedding(self: Arc<Self>) {
        let Some(embeddings) = self.embeddings.clone() else { return std::future::pending().await };
        loop {
            match self.embed_next().await {
                Embedded::Some => {}
                Embedded::Nothing => embeddings.news.notified().await,
                Embedded::NotBefore(time) => tokio::time::sleep_until(time).await,
            }
        }
    }

    /// Embeds a batch of the conversation whose turn it is. Must be called by one task at a time.
    pub async fn embed_next(self: &Arc<Self>) -> Embedded {
        let Some(embeddings) = &self.embeddings else { return Embedded::Nothing };
        if let Err(until) = embeddings.breaker.lock().allows(Instant::now()) {
            return Embedded::NotBefore(until.unwrap_or_else(|| Instant::now() + PAUSE));
        }
        let taken = embeddings.queue.lock().take();
        let more = match &taken {
            Some(key) => {
                let embedded = Within::Background.catching(self.embed_some(embeddings, key)).await;
                embedded.unwrap_or(Err(EngineError::Panicked))
            }
            None => Ok(false),
        };
        embeddings.breaker.lock().undecided();
        let Some(key) = taken else { return Embedded::Nothing };
        match more {
            Ok(true) => embeddings.ask(&key),
            Ok(false) => {}
            Err(error) => tracing::warn!(conversation = key.id.as_str(), %error, "embedding failed"),
        }
        Embedded::Some
    }

    /// Embeds some of a conversation's missing utterances. Returns whether there may be more.
    async fn embed_some(self: &Arc<Self>, embeddings: &Embeddings, key: &ConversationKey) -> Result<bool> {
        let Some(state) = self.published(key).await? else { return Ok(false) };
        // if the state is older than the embeddings, the conversation gets another turn
        let Some(shared) = embeddings.vectors.of(&state) else { return Ok(true) };
        self.read_kept(embeddings, &state, &shared, usize::MAX).await?;
        let batch = match embeddings.vectors.are_full(&shared) {
            true => None,
            false => self.lacking(embeddings, &state, &shared).await?,
        };
        let Some(batch) = batch else {
            shared.write().complete(&state);
            self.keep_some(embeddings, &state, &shared, 1).await?;
            return Ok(false);
        };
        let lineage = state.head.identity.lineage;
        let more = embeddings.embed(batch).await;
        embeddings.vectors.weigh(lineage, &shared);
        // another process may have erased something in the store
        let now = self.published(key).await?;
        if now.is_none_or(|now| now.head.identity.lineage != lineage) {
            embeddings.vectors.remove(lineage);
            return Ok(false);
        }
        self.keep_some(embeddings, &state, &shared, KEPT_AT_ONCE).await?;
        Ok(more)
    }

    /// Returns a batch of the newest utterances without an embedding; `None` if there are none.
    async fn lacking(
        self: &Arc<Self>,
        embeddings: &Embeddings,
        state: &Arc<Conversation>,
        shared: &SharedVectors,
    ) -> Result<Option<Batch>> {
        let mut missing = shared.write().missing(state);
        let most = *embeddings.batch.lock();
        let (mut of, mut texts) = (Vec::new(), Vec::new());
        while of.len() < most && !missing.is_empty() {
            let read = self.stored(state, &missing.take_last(READ)).await?;
            let (live, without): (Vec<_>, Vec<_>) = read.into_iter().rev().partition(|one| has_text(one));
            let without = without.iter().map(|utterance| (utterance.sequence, None));
            shared.write().take(state, without.collect());
            for utterance in live.iter().take(most - of.len()) {
                of.push(utterance.sequence);
                texts.push(beginning(&utterance.content).to_owned());
            }
        }
        let shared = shared.clone();
        Ok((!texts.is_empty()).then(|| Batch { state: state.clone(), shared, of, texts }))
    }
}

impl Embeddings {
    /// Embeds a batch. Returns whether to continue with the conversation.
    async fn embed(&self, batch: Batch) -> bool {
        let namespace = &batch.state.key().namespace;
        match call_within(self.timeout, async { self.embedder.embed(&batch.texts).await }).await {
            Ok(vectors) => {
                self.breaker.lock().succeeded();
                self.resize(|batch| batch * 2);
                let made = batch.of.iter().zip(&vectors).map(|(of, vector)| (*of, Embedding::of(vector)));
                let taken = batch.shared.write().take(&batch.state, made.collect());
                let made = vectors.len() as u64;
                self.count(namespace, |standing| match taken {
                    true => standing.embedded += made,
                    false => standing.dropped += made,
                });
                self.meters.embedded.inc_by(made);
                true
            }
            Err(error) => {
                self.count(namespace, |standing| standing.failed += 1);
                self.meters.failed.inc();
                self.failed(&batch, &error)
            }
        }
    }

    /// Makes the next batch smaller, since this one may have been too large. If a single text is refused, it
    /// is left without an embedding. If the server does not answer for a single text, the conversation waits
    /// until it is searched again.
    fn failed(&self, batch: &Batch, error: &LlmError) -> bool {
        let conversation = batch.state.key().id.as_str();
        tracing::warn!(conversation, ?error, texts = batch.texts.len(), "could not embed a batch");
        let asked = match error {
            LlmError::Unavailable { retry_after, .. } => Some(retry_after.unwrap_or(PAUSE)),
            LlmError::Refused(_) | LlmError::Unusable(_) => None,
        };
        self.breaker.lock().failed(Instant::now(), asked);
        self.resize(|_| batch.texts.len() / 2);
        if let ([alone], None) = (batch.of.as_slice(), asked) {
            batch.shared.write().take(&batch.state, vec![(*alone, None)]);
        }
        batch.of.len() > 1 || asked.is_none()
    }

    fn resize(&self, size: impl FnOnce(usize) -> usize) {
        let mut batch = self.batch.lock();
        *batch = size(*batch).clamp(1, EMBEDDING_BATCH);
    }
}

/// Whether an utterance has text to embed. Forgotten utterances are never sent.
fn has_text(utterance: &Utterance) -> bool {
    utterance.is_live() && !utterance.content.trim().is_empty()
}
