//! Updating conversations and utterances.

use std::sync::Arc;

use crate::{
    domain::{
        edit::NewContent,
        update::{Update, UpdateUtterance, update, update_utterance},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, LONG_TEXT_BYTES, Operation, offload,
        queued::{Decision, WriteCall},
    },
};

/// The changes to make to a conversation.
#[derive(Clone, Debug)]
pub struct UpdateCall {
    /// The conversation.
    pub address: Address,
    /// The changes.
    pub update: Update,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// The result.
pub type UpdateReply = Applied<()>;

/// The changes to make to an utterance.
#[derive(Clone, Debug)]
pub struct UpdateUtteranceCall {
    /// The conversation.
    pub address: Address,
    /// The changes other than to the content.
    pub update: UpdateUtterance,
    /// The new content.
    pub edit: Option<Edit>,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// New content whose tokens are not counted yet.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The text.
    pub content: Box<str>,
    /// The most bytes of content, tool-call arguments and extras together.
    pub max_bytes: usize,
}

/// The result, and the utterance as it is now.
pub type UpdateUtteranceReply = Applied<()>;

impl Engine {
    /// Changes a conversation's title, labels or policy.
    pub async fn update_conversation(
        self: &Arc<Self>,
        caller: &Caller,
        call: UpdateCall,
    ) -> Result<UpdateReply, EngineError> {
        let write = WriteCall::new(caller, call.address, call.attempt, Operation::UpdateConversation);
        self.write(write, move |before, context| {
            Ok(update(before, &call.update, context)?.map(|transition| Decision::of(transition, None, ())))
        })
        .await
    }

    /// Changes an utterance's pin, metadata or content.
    pub async fn update_utterance(
        self: &Arc<Self>,
        caller: &Caller,
        mut call: UpdateUtteranceCall,
    ) -> Result<UpdateUtteranceReply, EngineError> {
        self.count_edit(caller, &mut call).await?;
        let write = WriteCall::new(caller, call.address, call.attempt, Operation::UpdateUtterance);
        self.write(write, move |before, context| {
            Ok(update_utterance(before, &call.update, context)?
                .map(|updated| Decision::about(updated.utterance, updated.transition, ())))
        })
        .await
    }

    /// Converts the edit of a call, if it has one, to new content with its tokens, in the encoding of the
    /// addressed conversation.
    pub(super) async fn count_edit(
        self: &Arc<Self>,
        caller: &Caller,
        call: &mut UpdateUtteranceCall,
    ) -> Result<(), EngineError> {
        let Some(Edit { content, max_bytes }) = call.edit.take() else { return Ok(()) };
        let state = match self.resolve(caller, &call.address).await? {
            Some(id) => self.published(&caller.key(id)).await?,
            None => None,
        };
        let encoding = state.map_or(self.defaults.encoding, |state| state.head.identity.encoding);
        let counter = self.counter(encoding);
        let is_long = content.len() > LONG_TEXT_BYTES;
        let (tokens, content) = offload(is_long, move || (counter.count(&content), content)).await;
        self.meters.tokens.inc_by(tokens.into());
        call.update.content = Some(NewContent { content, tokens, encoding, max_bytes });
        Ok(())
    }
}
