//! Utterances wherever they are stored.

use std::sync::Arc;

use crate::{
    domain::{Conversation, Ranges, Utterance},
    engine::{Caller, Engine, EngineError},
    store::Outcome,
};

/// An earlier outcome, with what is still stored of the utterances that it refers to.
#[derive(Debug)]
pub struct References {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// The conversation as it is now; `None` when it is deleted.
    pub conversation: Option<Arc<Conversation>>,
    /// The stored utterances among those that it refers to.
    pub utterances: Vec<Arc<Utterance>>,
}

impl Engine {
    /// What an earlier outcome refers to, as far as it is still stored.
    pub(super) async fn references(
        &self,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<References, EngineError> {
        let key = caller.key(outcome.conversation.clone());
        // the store may tell of an outcome before its state is published
        self.lanes.lane(&key).land().await;
        let conversation = self.published(&key).await?;
        // One of the same id that started later is another conversation.
        let conversation = conversation.filter(|state| state.head.identity.start_time <= outcome.time);
        let Some(state) = &conversation else {
            return Ok(References { outcome, conversation, utterances: Vec::new() });
        };
        let mut wanted = outcome.memorized.clone();
        for more in [&outcome.evicted, &outcome.forgotten, &outcome.restored] {
            wanted.union(more);
        }
        outcome.target.into_iter().for_each(|sequence| wanted.add(sequence));
        let utterances = self.stored(state, &wanted).await?;
        Ok(References { outcome, conversation, utterances })
    }

    /// The stored utterances among `wanted`, in the window or the archive, ascending.
    pub(super) async fn stored(
        &self,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>, EngineError> {
        let archived = wanted.intersection(&state.head.archived);
        let mut utterances = match archived.is_empty() {
            true => Vec::new(),
            false => self.store.archived(state.key(), &archived).await?,
        };
        utterances.extend(
            wanted.iter().flat_map(|range| state.window.between(*range.start(), *range.end())).cloned(),
        );
        utterances.sort_by_key(|utterance| utterance.sequence);
        Ok(utterances)
    }
}
