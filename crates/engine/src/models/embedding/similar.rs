//! The similarity of utterances to the prompt.

use std::{sync::Arc, time::Duration};

use super::{embeddings::Embeddings, vectors::SharedVectors};
use crate::{Engine, offload::offload, search::found::Searched};
use utterd_domain::{
    Conversation,
    limits::{BLOCK_SEQUENCES, EMBEDDING_PATIENCE},
    recall::hybrid::Similar,
    values::embedding::Embedding,
};

/// The number of blocks that a search reads itself; more are read in the background.
const READ_AT_ONCE: usize = 16;
/// Comparing more embeddings than this is long.
const LONG_TO_COMPARE: usize = 20_000;

impl Engine {
    /// Returns the similarity of the searched utterances to the prompt, by state and then by sequence, as far
    /// as they are embedded. Never fails.
    ///
    /// Returns `None` if only words can be used: there is no model, nothing is embedded yet, or the prompt's
    /// embedding does not arrive in time. It has half of `patience`, and at most [`EMBEDDING_PATIENCE`].
    ///
    /// Missing embeddings are requested for later searches.
    pub(crate) async fn similar(
        &self,
        searched: &Arc<Searched>,
        prompt: &str,
        patience: Option<Duration>,
    ) -> Option<Vec<Similar>> {
        let (embeddings, states) = (self.embeddings.as_ref()?, &searched.states);
        let namespace = &states.first()?.key().namespace;
        let held = self.held(embeddings, states).await;
        if prompt.trim().is_empty() || held.iter().all(Option::is_none) {
            return None;
        }
        let patience = patience.map_or(EMBEDDING_PATIENCE, |patience| (patience / 2).min(EMBEDDING_PATIENCE));
        let found = match embeddings.prompts.embed(&*embeddings.embedder, prompt, patience).await {
            Some(prompt) => embeddings.compare(searched.clone(), held, prompt).await,
            None => Vec::new(),
        };
        embeddings.searched(namespace, !found.is_empty());
        (!found.is_empty()).then_some(found)
    }
}

impl Engine {
    /// Returns the embeddings of each state, as far as they are in memory or in a few blocks of the store;
    /// requests the missing ones.
    async fn held(
        &self,
        embeddings: &Embeddings,
        states: &[Arc<Conversation>],
    ) -> Vec<Option<SharedVectors>> {
        let (mut held, mut blocks) = (Vec::with_capacity(states.len()), READ_AT_ONCE);
        for state in states {
            let shared = embeddings.vectors.of(state);
            if let Some(shared) = shared.as_ref().filter(|shared| blocks > 0 && !shared.read().is_read()) {
                blocks -= blocks.min(state.head.next.get().div_ceil(BLOCK_SEQUENCES) as usize);
                if let Err(error) = self.read_kept(embeddings, state, shared, READ_AT_ONCE).await {
                    tracing::warn!(conversation = state.key().id.as_str(), %error, "could not read stored embeddings");
                }
            }
            if !shared.as_ref().is_some_and(|shared| shared.read().is_complete(state)) {
                embeddings.ask(state.key());
            }
            held.push(shared.filter(|shared| shared.read().len() > 0));
        }
        held
    }
}

impl Embeddings {
    async fn compare(
        self: &Arc<Self>,
        searched: Arc<Searched>,
        held: Vec<Option<SharedVectors>>,
        prompt: Arc<Embedding>,
    ) -> Vec<Similar> {
        let embeddings = self.clone();
        let count = held.iter().flatten().map(|shared| shared.read().len()).sum::<usize>();
        offload(count > LONG_TO_COMPARE, move || {
            let Searched { states, wanted } = &*searched;
            let mut found = Vec::with_capacity(count);
            for (index, shared) in held.iter().enumerate() {
                let Some(shared) = shared else { continue };
                let similar = shared.read().similar(&states[index], index, &wanted[index], &prompt);
                found.extend(similar.unwrap_or_else(|_| {
                    shared.write().start_anew();
                    embeddings.ask(states[index].key());
                    Vec::new()
                }));
            }
            found
        })
        .await
    }
}
