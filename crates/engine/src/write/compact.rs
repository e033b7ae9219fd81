//! Previews of compactions, and the advice to compact.

use std::sync::Arc;

use crate::{Address, Applied, Caller, Command, Engine, Operation, Result, events::Event};
use utterd_domain::{
    Conversation,
    compaction::{Compact, Compaction},
};

impl Engine {
    /// Decides a compaction on the published state, and commits nothing.
    pub async fn preview_compaction(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        command: Compact,
    ) -> Result<Applied<Option<Arc<Compaction>>>> {
        let before = self.read(caller, address).await?;
        let result = self.rehearse(&before, move |before, context| command.decide(before, context)).await?;
        Ok(Applied::rehearsed(&before, result, self.now_for(&before)))
    }

    /// Stops the advice to compact the conversation for callers that name `session`, or for all callers if
    /// `None`, as long as this process runs.
    pub async fn silence_advice(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        session: Option<&str>,
    ) -> Result<Arc<Conversation>> {
        let state = self.read(caller, address).await?;
        self.sessions.silence(&state, session);
        self.events.push(Event::read(Operation::AnswerCompactionPrompt, &state, 1));
        Ok(state)
    }

    /// Whether callers that name `session` get no advice to compact the conversation.
    pub fn is_silenced(&self, state: &Conversation, session: Option<&str>) -> bool {
        self.sessions.is_silenced(state, session)
    }
}
