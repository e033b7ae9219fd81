//! Turns of the archive, for contexts that have room for them.

use std::sync::Arc;

use crate::{Engine, Result, read::page::ReadSize};
use utterd_domain::{Conversation, Utterance, context::Request};

impl Engine {
    /// Returns the newest archived utterances, whole units, ascending: as many as fill what the window leaves of
    /// the budget, or more. None if the budget is unlimited.
    pub(super) async fn archived_turns(
        self: &Arc<Self>,
        state: &Conversation,
        request: &Request,
    ) -> Result<Vec<Arc<Utterance>>> {
        let budget = request.budget.or_else(|| Request::default_budget(state));
        let mut left = budget.map_or(0, |budget| u64::from(budget).saturating_sub(state.window.tokens()));
        let (mut rest, mut size) = ((*state.head.archived).clone(), ReadSize::of(&state.head));
        let mut turns = Vec::new();
        while left > 0 && !rest.is_empty() {
            let mut read = self.stored(state, &rest.take_last(size.get())).await?;
            size.learn(&read);
            let tokens: u64 = read.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum();
            left = left.saturating_sub(tokens);
            read.append(&mut turns);
            turns = read;
        }
        if !rest.is_empty() {
            // of the oldest unit, the beginning may be missing
            let whole = turns.iter().position(|utterance| utterance.unit == utterance.sequence);
            turns.drain(..whole.unwrap_or(turns.len()));
        }
        Ok(turns)
    }
}
