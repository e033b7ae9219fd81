//! Reading utterances wherever they are stored.

use std::sync::Arc;

use crate::{
    domain::{Conversation, Ranges, Utterance},
    engine::{Applied, Caller, Engine, EngineError},
    store::Outcome,
};

/// How often utterances that move between window and archive are looked for again.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Returns the answer to an earlier outcome, with the utterances it refers to that are still stored.
    pub(super) async fn replay<T>(
        self: &Arc<Self>,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<Applied<T>, EngineError> {
        // the store may return an outcome before its state is published
        let conversation = self.settled(&caller.key(outcome.conversation.clone())).await?;
        // one with the same id that started later is another conversation
        let conversation = conversation.filter(|state| state.head.identity.start_time <= outcome.time);
        let Some(state) = &conversation else {
            return Ok(Applied::earlier(outcome, None, Vec::new()));
        };
        let mut wanted = outcome.memorized.clone();
        for more in [&outcome.evicted, &outcome.forgotten, &outcome.restored] {
            wanted.union(more);
        }
        outcome.target.into_iter().for_each(|sequence| wanted.add(sequence));
        let utterances = self.stored(state, &wanted).await?;
        Ok(Applied::earlier(outcome, conversation, utterances))
    }

    /// Returns the stored utterances among `wanted`, from window and archive, ascending.
    pub(super) async fn stored(
        self: &Arc<Self>,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>, EngineError> {
        let mut utterances = self.archived(state, &wanted.intersection(&state.head.archived)).await?;
        let in_window = wanted.iter().flat_map(|range| state.window.between(*range.start(), *range.end()));
        utterances.extend(in_window.cloned());
        utterances.sort_by_key(|utterance| utterance.sequence);
        Ok(utterances)
    }

    /// Returns the utterances among `wanted`, which are in the archive of `state`, ascending: in their current
    /// form, wherever they have moved; without those removed since.
    pub(super) async fn archived(
        self: &Arc<Self>,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>, EngineError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.store.archived(state.key(), wanted).await?;
        for _ in 0..ATTEMPTS {
            if found.len() as u64 == wanted.count() {
                break;
            }
            let Some(now) = self.settled(state.key()).await? else { break };
            if now.head.identity.lineage != state.head.identity.lineage {
                break;
            }
            let mut missing = wanted.clone();
            missing.subtract(&found.iter().map(|utterance| utterance.sequence).collect());
            let returned = missing.sequences().filter_map(|sequence| now.window.get(sequence)).cloned();
            found.extend(returned);
            missing.subtract(&found.iter().map(|utterance| utterance.sequence).collect());
            missing = missing.intersection(&now.head.archived);
            if missing.is_empty() {
                break;
            }
            found.extend(self.store.archived(state.key(), &missing).await?);
        }
        found.sort_by_key(|utterance| utterance.sequence);
        Ok(found)
    }
}
