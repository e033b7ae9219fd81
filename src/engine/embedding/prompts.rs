//! The prompts of searches: the last ones that were embedded, and when none is.

use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use tokio::{sync::Semaphore, time::Instant};

use crate::{
    domain::embedding::Embedding,
    engine::{breaker::Breaker, llm::LlmError},
};

/// Prompts whose embeddings are kept: the pages of a search, and searches that are repeated.
const KEPT: usize = 256;
/// Prompts that are embedded at once; more do with words.
const AT_ONCE: usize = 64;

/// The prompts of searches.
pub(super) struct Prompts {
    kept: Cache<Box<str>, Arc<Embedding>>,
    pub(super) places: Semaphore,
    breaker: Mutex<Breaker>,
}

/// A call that is let out. Dropped before it ended, it tells nothing of the server.
pub(super) struct Trial<'a>(&'a Mutex<Breaker>);

impl Default for Prompts {
    fn default() -> Self {
        Self { kept: Cache::new(KEPT), places: Semaphore::new(AT_ONCE), breaker: Mutex::default() }
    }
}

impl Prompts {
    /// The embedding of a prompt, if it is one of the last.
    pub(super) fn get(&self, prompt: &str) -> Option<Arc<Embedding>> {
        self.kept.get(prompt)
    }

    pub(super) fn keep(&self, prompt: &str, embedding: Arc<Embedding>) {
        self.kept.insert(prompt.into(), embedding);
    }

    /// A call of the model, unless it did not answer lately.
    pub(super) fn try_call(&self) -> Option<Trial<'_>> {
        self.breaker.lock().allows(Instant::now()).ok().map(|()| Trial(&self.breaker))
    }

    pub(super) fn are_held_back(&self) -> bool {
        self.breaker.lock().is_open()
    }
}

impl Trial<'_> {
    /// The call was answered, or was not.
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
