//! Editing an utterance.

use std::sync::Arc;

use crate::{Applied, Call, Caller, Engine, LONG_TEXT_BYTES, Result, offload};
use utterd_domain::{edit::NewContent, update::UpdateUtterance};

/// New content whose tokens are not counted yet.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The text.
    pub content: Box<str>,
    /// The most bytes of content, tool-call arguments and extras together.
    pub max_bytes: usize,
}

impl Engine {
    /// Changes an utterance's pin, metadata or content; `edit` is the new content.
    pub async fn update_utterance(
        self: &Arc<Self>,
        caller: &Caller,
        mut call: Call<UpdateUtterance>,
        edit: Option<Edit>,
    ) -> Result<Applied<()>> {
        self.count_edit(caller, &mut call, edit).await?;
        self.apply(caller, call).await
    }

    /// Counts the tokens of an edit, in the encoding of the addressed conversation, and adds the edit to the
    /// call. Does nothing without an edit.
    pub(crate) async fn count_edit(
        self: &Arc<Self>,
        caller: &Caller,
        call: &mut Call<UpdateUtterance>,
        edit: Option<Edit>,
    ) -> Result<()> {
        let Some(Edit { content, max_bytes }) = edit else { return Ok(()) };
        let state = match self.resolve(caller, &call.address).await? {
            Some(id) => self.published(&caller.key(id)).await?,
            None => None,
        };
        let encoding = state.map_or(self.defaults.encoding, |state| state.head.identity.encoding);
        let counter = self.counter(encoding);
        let is_long = content.len() > LONG_TEXT_BYTES;
        let (tokens, content) = offload(is_long, move || (counter.count(&content), content)).await;
        self.meters.tokens.inc_by(tokens.into());
        call.command.content = Some(NewContent { content, tokens, encoding, max_bytes });
        Ok(())
    }
}
