//! Compacting conversations, taking that back, and the advice to do it.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation,
        compaction::{Answer, Compact, Compaction, Undo, answer, compact, undo},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        applied::Done,
        events::Event,
        queued::{Decision, WriteCall},
    },
};

/// A conversation to compact.
#[derive(Clone, Debug)]
pub struct CompactCall {
    /// The conversation.
    pub address: Address,
    /// How.
    pub compact: Compact,
    /// Decides and changes nothing.
    pub preview: bool,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it, and what was done.
pub type CompactReply = Applied<Arc<Compaction>>;

/// A compaction to take back.
#[derive(Clone, Debug)]
pub struct UndoCall {
    /// The conversation.
    pub address: Address,
    /// How.
    pub undo: Undo,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it, and the compaction.
pub type UndoReply = Applied<Arc<Compaction>>;

/// "Not now" to the advice to compact.
#[derive(Clone, Debug)]
pub struct AnswerCall {
    /// The conversation.
    pub address: Address,
    /// The answer.
    pub answer: Answer,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it.
pub type AnswerReply = Applied<()>;

impl Engine {
    /// Makes summary of all but the last utterances of the window.
    pub async fn compact_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        call: CompactCall,
    ) -> Result<CompactReply, EngineError> {
        if call.preview {
            return self.preview(caller, &call).await;
        }
        let operation = Operation::CompactConversation;
        self.write(WriteCall::new(caller, call.address, call.attempt, operation), move |before, context| {
            Ok(compact(before, &call.compact, context)?
                .map(|compacted| Decision::of(compacted.transition, None, compacted.compaction)))
        })
        .await
    }

    /// Decides on the published state and commits nothing.
    async fn preview(
        self: &Arc<Self>,
        caller: &Caller,
        call: &CompactCall,
    ) -> Result<CompactReply, EngineError> {
        let before = self.read(caller, &call.address).await?;
        let compacted =
            self.rehearse(&before, |before, context| compact(before, &call.compact, context)).await?;
        let mut done = Done::rehearsed(&before, Some(compacted.transition), self.now_for(&before));
        Arc::make_mut(&mut done.outcome).revision = before.head.revision;
        Ok(Applied::now(done, compacted.compaction))
    }

    /// Takes the last compaction back that stands.
    pub async fn undo_compaction(
        self: &Arc<Self>,
        caller: &Caller,
        call: UndoCall,
    ) -> Result<UndoReply, EngineError> {
        let operation = Operation::UndoCompaction;
        self.write(WriteCall::new(caller, call.address, call.attempt, operation), move |before, context| {
            Ok(undo(before, &call.undo, context)?
                .map(|undone| Decision::of(undone.transition, None, undone.compaction)))
        })
        .await
    }

    /// Answers "not now" to the advice to compact.
    pub async fn decline_compaction(
        self: &Arc<Self>,
        caller: &Caller,
        call: AnswerCall,
    ) -> Result<AnswerReply, EngineError> {
        let operation = Operation::AnswerCompactionPrompt;
        self.write(WriteCall::new(caller, call.address, call.attempt, operation), move |before, context| {
            let transition = answer(before, &call.answer, context)?;
            let decision = Decision::of(transition, None, ());
            Ok(crate::domain::Verdict::Decided(decision))
        })
        .await
    }

    /// Gives no advice to compact any more: to callers that name `session`, or to nobody, as long as this
    /// process runs.
    pub async fn silence_advice(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        session: Option<&str>,
    ) -> Result<Arc<Conversation>, EngineError> {
        let state = self.read(caller, address).await?;
        self.sessions.silence(&state, session);
        self.events.push(Event::read(Operation::AnswerCompactionPrompt, &state, 1));
        Ok(state)
    }

    /// Whether callers that name `session` get no advice to compact the conversation.
    pub fn is_silenced(&self, state: &Conversation, session: Option<&str>) -> bool {
        self.sessions.is_silenced(state, session)
    }

    /// The conversation that is addressed, for its compactions to be listed.
    pub async fn compactions(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
    ) -> Result<Arc<Conversation>, EngineError> {
        let state = self.read_or_blank(caller, address).await?;
        self.events.push(Event::read(Operation::ListCompactions, &state, state.compactions.len()));
        Ok(state)
    }
}
