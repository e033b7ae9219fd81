//! Reads utterances from the window and the archive.

use std::sync::Arc;

use crate::{Applied, Caller, Engine, Result};
use utterd_domain::{Conversation, Ranges, Utterance};
use utterd_store::Outcome;

/// How often to look again for utterances that move between window and archive.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Returns the answer to a repeated attempt from its earlier outcome, with the utterance that the call is
    /// about, if it is still stored.
    pub(crate) async fn replay<T>(
        self: &Arc<Self>,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<Applied<T>> {
        // the store may return an outcome before its state is published
        let conversation = self.settled(&caller.key(outcome.conversation.clone())).await?;
        // a conversation with the same id that started later is another one
        let conversation = conversation.filter(|state| state.head.identity.start_time <= outcome.time);
        let Some(state) = &conversation else {
            return Ok(Applied::earlier(outcome, None, Vec::new()));
        };
        let target = outcome.target.map(|target| Ranges::of(target, target)).unwrap_or_default();
        let utterances = self.stored(state, &target).await?;
        Ok(Applied::earlier(outcome, conversation, utterances))
    }

    /// Returns the stored utterances among `wanted`, from window and archive, ascending.
    pub(crate) async fn stored(
        self: &Arc<Self>,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>> {
        let mut utterances = self.archived(state, &wanted.intersection(&state.head.archived)).await?;
        let in_window = wanted.iter().flat_map(|range| state.window.between(*range.start(), *range.end()));
        utterances.extend(in_window.cloned());
        utterances.sort_by_key(|utterance| utterance.sequence);
        Ok(utterances)
    }

    /// Returns the utterances with the `wanted` sequences, all of which are in the archive of `state`,
    /// ascending. They have their current form, even if they have moved to the window since; removed ones are
    /// left out.
    pub(crate) async fn archived(
        self: &Arc<Self>,
        state: &Conversation,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>> {
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
