//! Compacting conversations, undoing that, and the advice to compact.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Transition,
        compaction::{Answer, Compact, Compacted, Compaction, Undo, answer, compact, undo},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        applied::Done,
        events::Event,
        facts::Named,
        queued::{Decision, WriteCall},
    },
};

/// A conversation to compact.
#[derive(Clone, Debug)]
pub struct CompactCall {
    /// The conversation.
    pub address: Address,
    /// How to compact it.
    pub compact: Compact,
    /// Decide, but change nothing.
    pub preview: bool,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result, and the compaction; `None` if nothing was left to compact.
pub type CompactReply = Applied<Option<Arc<Compaction>>>;

/// A compaction to undo.
#[derive(Clone, Debug)]
pub struct UndoCall {
    /// The conversation.
    pub address: Address,
    /// How to undo it.
    pub undo: Undo,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result, and the compaction.
pub type UndoReply = Applied<Arc<Compaction>>;

/// A "not now" answer to the advice to compact.
#[derive(Clone, Debug)]
pub struct AnswerCall {
    /// The conversation.
    pub address: Address,
    /// The answer.
    pub answer: Answer,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result.
pub type AnswerReply = Applied<()>;

impl Engine {
    /// Folds all but the last utterances of the window into the summary.
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
            Ok(compact(before, &call.compact, context)?.map(|compacted| {
                let (transition, compaction) = parts(compacted);
                Decision::of(transition, None, compaction)
            }))
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
        let command = call.compact.clone();
        let compacted =
            self.rehearse(&before, move |before, context| compact(before, &command, context)).await?;
        let (transition, compaction) = parts(compacted);
        let now = self.now_for(&before);
        let mut done = Done::rehearsed(&before, transition, Named::default(), now);
        Arc::make_mut(&mut done.outcome).revision = before.head.revision;
        Ok(Applied::now(done, compaction))
    }

    /// Undoes the last compaction still in effect.
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

    /// Stops advising callers that name `session` to compact the conversation, or all callers if `None`, as
    /// long as this process runs.
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

    /// Returns the addressed conversation, for its compactions to be listed.
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

/// The change and the compaction, if there is one.
fn parts(compacted: Option<Compacted>) -> (Option<Transition>, Option<Arc<Compaction>>) {
    compacted.map(|Compacted { transition, compaction }| (transition, compaction)).unzip()
}
