//! The prompts of searches: the most recent embeddings, made quickly or not at all, and when calls for new ones are
//! held back.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use tokio::{sync::Semaphore, time::Instant};

use super::Embedder;
use crate::models::{
    breaker::Breaker,
    llm::{LlmError, call_within},
};
use utterd_domain::{limits::EMBEDDED_BYTES, values::embedding::Embedding};

/// The number of prompts whose embeddings are kept, for the pages of a search and for repeated searches.
const KEPT: usize = 256;
/// The number of prompts embedded at the same time; further searches use words alone.
const AT_ONCE: usize = 64;

/// The prompts of searches.
pub(super) struct Prompts {
    kept: Cache<Box<str>, Arc<Embedding>>,
    places: Semaphore,
    breaker: Mutex<Breaker>,
}

/// A permitted call. If dropped before it ends, it says nothing about the server.
struct Trial<'a>(&'a Mutex<Breaker>);

impl Default for Prompts {
    fn default() -> Self {
        Self { kept: Cache::new(KEPT), places: Semaphore::new(AT_ONCE), breaker: Mutex::default() }
    }
}

impl Prompts {
    /// Returns the embedding of `prompt`, if it is known or the model returns it within `patience`.
    pub(super) async fn embed(
        &self,
        embedder: &dyn Embedder,
        prompt: &str,
        patience: Duration,
    ) -> Option<Arc<Embedding>> {
        let prompt = beginning(prompt);
        if let Some(kept) = self.kept.get(prompt) {
            return Some(kept);
        }
        let _place = self.places.try_acquire().ok()?;
        let call = self.try_call()?;
        let texts = [prompt.to_owned()];
        let answer = call_within(patience, async { embedder.embed(&texts).await }).await;
        let answer = answer.and_then(|vectors| one(&vectors));
        call.ended(answer.as_ref().err());
        match answer {
            Ok(embedding) => {
                let embedding = Arc::new(embedding);
                self.kept.insert(prompt.into(), embedding.clone());
                Some(embedding)
            }
            Err(error) => {
                tracing::warn!(?error, "could not embed a prompt: searching by words alone");
                None
            }
        }
    }

    /// Permits a call to the model, unless calls are held back because its server does not answer.
    fn try_call(&self) -> Option<Trial<'_>> {
        self.breaker.lock().allows(Instant::now()).ok().map(|()| Trial(&self.breaker))
    }

    pub(super) fn are_held_back(&self) -> bool {
        self.breaker.lock().is_open()
    }
}

impl Trial<'_> {
    /// Records how the call ended.
    fn ended(self, failure: Option<&LlmError>) {
        let mut breaker = self.0.lock();
        match failure {
            None => breaker.succeeded(),
            Some(LlmError::Unavailable { retry_after, .. }) => breaker.failed(Instant::now(), *retry_after),
            Some(_) => breaker.failed(Instant::now(), None),
        }
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.0.lock().undecided();
    }
}

/// Returns the part of a text that is embedded: its beginning.
pub(super) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(EMBEDDED_BYTES)]
}

fn one(vectors: &[Vec<f32>]) -> Result<Embedding, LlmError> {
    let embedding = vectors.first().and_then(|vector| Embedding::of(vector));
    embedding.ok_or_else(|| LlmError::Unusable("its embedding has no direction".into()))
}
