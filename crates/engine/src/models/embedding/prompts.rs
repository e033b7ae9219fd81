//! The prompts of searches: the most recent embeddings, and when calls for new ones are held back.

use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use tokio::{sync::Semaphore, time::Instant};

use crate::models::{breaker::Breaker, llm::LlmError};
use utterd_domain::values::embedding::Embedding;

/// The number of prompts whose embeddings are kept, for the pages of a search and for repeated searches.
const KEPT: usize = 256;
/// The number of prompts embedded at the same time; further searches use words alone.
const AT_ONCE: usize = 64;

/// The prompts of searches.
pub(super) struct Prompts {
    kept: Cache<Box<str>, Arc<Embedding>>,
    pub(super) places: Semaphore,
    breaker: Mutex<Breaker>,
}

/// A permitted call. If dropped before it ends, it says nothing about the server.
pub(super) struct Trial<'a>(&'a Mutex<Breaker>);

impl Default for Prompts {
    fn default() -> Self {
        Self { kept: Cache::new(KEPT), places: Semaphore::new(AT_ONCE), breaker: Mutex::default() }
    }
}

impl Prompts {
    /// Returns the embedding of a prompt, if it is among the most recent.
    pub(super) fn get(&self, prompt: &str) -> Option<Arc<Embedding>> {
        self.kept.get(prompt)
    }

    pub(super) fn keep(&self, prompt: &str, embedding: Arc<Embedding>) {
        self.kept.insert(prompt.into(), embedding);
    }

    /// Permits a call to the model, unless calls are held back because its server does not answer.
    pub(super) fn try_call(&self) -> Option<Trial<'_>> {
        self.breaker.lock().allows(Instant::now()).ok().map(|()| Trial(&self.breaker))
    }

    pub(super) fn are_held_back(&self) -> bool {
        self.breaker.lock().is_open()
    }
}

impl Trial<'_> {
    /// Records how the call ended.
    pub(super) fn ended(self, failure: Option<&LlmError>) {
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
