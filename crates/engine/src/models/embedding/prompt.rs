//! The embedding of a search's prompt: made quickly, or not at all.

use std::{sync::Arc, time::Duration};

use super::embeddings::Embeddings;
use crate::models::llm::{LlmError, call_within};
use utterd_domain::{limits::EMBEDDED_BYTES, values::embedding::Embedding};

impl Embeddings {
    /// Returns the embedding of `prompt`, if it is known or the model returns it within `patience`.
    pub(super) async fn embed_prompt(&self, prompt: &str, patience: Duration) -> Option<Arc<Embedding>> {
        let prompt = beginning(prompt);
        if let Some(kept) = self.prompts.get(prompt) {
            return Some(kept);
        }
        let _place = self.prompts.places.try_acquire().ok()?;
        let call = self.prompts.try_call()?;
        let texts = [prompt.to_owned()];
        let answer = call_within(patience, async { self.embedder.embed(&texts).await }).await;
        let answer = answer.and_then(|vectors| one(&vectors));
        call.ended(answer.as_ref().err());
        match answer {
            Ok(embedding) => {
                let embedding = Arc::new(embedding);
                self.prompts.keep(prompt, embedding.clone());
                Some(embedding)
            }
            Err(error) => {
                tracing::warn!(?error, "could not embed a prompt: searching by words alone");
                None
            }
        }
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
