//! Archived utterances for contexts that have room for them.

use std::sync::Arc;

use crate::{Engine, Result, read::page::ReadSize};
use utterd_domain::{
    Conversation, Utterance,
    context::{Reach, Request},
};

impl Engine {
    /// Returns the newest archived utterances, whole units, ascending: as many as fill what the window leaves of
    /// the budget, or more.
    pub(super) async fn archived_turns(
        self: &Arc<Self>,
        state: &Conversation,
        request: &Request,
    ) -> Result<Vec<Arc<Utterance>>> {
        let mut turns = Vec::new();
        let Some(mut reach) = Reach::of(state, request) else { return Ok(turns) };
        let (mut rest, mut size) = ((*state.head.archived).clone(), ReadSize::of(&state.head));
        while reach.goes_on() && !rest.is_empty() {
            let mut read = self.stored(state, &rest.take_last(size.get())).await?;
            size.learn(&read);
            reach.go_over(&read);
            read.append(&mut turns);
            turns = read;
        }
        reach.trim(&mut turns, rest.is_empty());
        Ok(turns)
    }
}
