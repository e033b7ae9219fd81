//! Shares conversations, revokes shares, and reads shared conversations.

use std::{sync::Arc, time::Duration};

use crate::{
    Address, Applied, Caller, Engine, EngineError, ListUtterances, Operation, Part, Result, UtterancePage,
    applied::RuleResult, events::Event, lane::queued::WriteCall,
};
use utterd_domain::{
    Conversation, Refusal, ShareId,
    share::{Secret, Share, ShareDigest, ShareToken, Sharing, revoke, share},
};

/// What to share.
#[derive(Clone, Debug)]
pub struct ShareCall {
    /// The conversation.
    pub address: Address,
    /// How long until the token expires.
    pub lifetime: Duration,
    /// Whether the holder of the token may read the archive too.
    pub include_archive: bool,
}

/// A new share.
#[derive(Clone, Debug)]
pub struct ShareReply {
    /// The conversation after the change.
    pub after: Arc<Conversation>,
    /// The stored share.
    pub share: Share,
    /// The token, which is not stored.
    pub token: ShareToken,
}

impl Engine {
    /// Makes a token with which anyone can read the conversation. A repeated call makes another token.
    pub async fn share(self: &Arc<Self>, caller: &Caller, call: &ShareCall) -> Result<ShareReply> {
        let secret = Secret(self.clock.secret().ok_or(EngineError::NoSecret)?);
        let command = Sharing {
            id: ShareId::assigned(self.clock.unique()),
            digest: ShareDigest::of(&secret),
            lifetime: call.lifetime,
            include_archive: call.include_archive,
        };
        let write = WriteCall::new(caller, call.address.clone(), None, Operation::ShareConversation);
        let applied = self.write(write, move |before, context| {
            let (transition, value) = share(before, &command, context)?;
            Ok(RuleResult::of(transition, value))
        });
        let (after, share) = now(applied.await?)?;
        Ok(ShareReply { token: ShareToken { key: after.key().clone(), secret }, share, after })
    }

    /// Revokes a share.
    pub async fn revoke_share(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        id: &ShareId,
    ) -> Result<Arc<Conversation>> {
        let write = WriteCall::new(caller, address.clone(), None, Operation::RevokeShare);
        let id = id.clone();
        let applied =
            self.write(write, move |before, context| Ok(RuleResult::of(revoke(before, &id, context)?, ())));
        Ok(now(applied.await?)?.0)
    }

    /// Reads what a token gives access to, for any caller: the window or, if the share includes the archive,
    /// everything stored. Soft-forgotten utterances are left out.
    ///
    /// Refuses every invalid token in the same way, whatever is wrong with it.
    pub async fn read_shared(
        self: &Arc<Self>,
        token: &ShareToken,
        part: Part,
    ) -> Result<(UtterancePage, Share)> {
        let state = self.published(&token.key).await?.ok_or(Refusal::NoShare)?;
        let share = state.head.opened_by(&token.secret, self.clock.now()).ok_or(Refusal::NoShare)?.clone();
        let (list, taken) = (ListUtterances::part(share.include_archive, part), state.summary.bytes());
        let page = self.page_of(state, &list, taken).await?;
        self.events.push(Event::read(Operation::ReadShared, &page.state, page.utterances.len()));
        Ok((page, share))
    }
}

/// Unwraps a result decided now: a call without a request id has no earlier outcome.
fn now<T>(applied: Applied<T>) -> Result<(Arc<Conversation>, T)> {
    applied.state.zip(applied.value).ok_or(EngineError::Interrupted)
}
