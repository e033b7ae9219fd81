//! ShareConversation, RevokeShare and ReadShared.

use crate::convert::status::{IntoStatus, OrStatus};
use std::time::Duration;

use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode, page_token::page_of},
    proto,
};
use utterd_domain::{
    Conversation, Refusal, ShareId, Utterance,
    limits::{DEFAULT_SHARE_LIFETIME, MAX_SHARE_LIFETIME},
    share::{Share, ShareToken},
};
use utterd_engine::{Caller, Part, ShareCall};

impl Services {
    pub(super) async fn share(
        &self,
        caller: &Caller,
        request: &proto::ShareConversationRequest,
    ) -> Result<proto::ShareConversationResponse, Status> {
        let call = ShareCall {
            address: decode::address(&request.conversation_id, &request.recipient_id).or_status()?,
            lifetime: lifetime(request.ttl).or_status()?,
            include_archive: request.include_archive,
        };
        let reply = self.engine.share(caller, &call).await.or_status()?;
        Ok(proto::ShareConversationResponse {
            token: reply.token.text(),
            share: Some(message(&reply.share)),
            conversation_id: reply.after.key().id.to_string(),
            revision: encode::long(reply.after.head.revision.get()),
        })
    }

    pub(super) async fn revoke(
        &self,
        caller: &Caller,
        request: &proto::RevokeShareRequest,
    ) -> Result<proto::RevokeShareResponse, Status> {
        let address = decode::address(&request.conversation_id, &request.recipient_id).or_status()?;
        let id = ShareId::new(&request.share_id)
            .map_err(|error| Refusal::bad_id("share_id", &error))
            .or_status()?;
        let after = self.engine.revoke_share(caller, &address, &id).await.or_status()?;
        Ok(proto::RevokeShareResponse { revision: encode::long(after.head.revision.get()) })
    }

    pub(super) async fn shared(
        &self,
        mut request: proto::ReadSharedRequest,
    ) -> Result<proto::ReadSharedResponse, Status> {
        if request.token.is_empty() {
            let text = "is empty; accepted: the token that ShareConversation returned";
            return Err(Refusal::invalid("token", text).into_status());
        }
        let token = ShareToken::read(&request.token).ok_or(Refusal::NoShare).or_status()?;
        let asked = page_of!("ReadShared", request, decode::PAGE).or_status()?;
        let part = Part { rest: asked.sequences().or_status()?, limit: asked.limit };
        let first = part.rest.is_none();
        let (page, share) = self.engine.read_shared(&token, part).await.or_status()?;
        let conversation = match first {
            true => {
                let mut conversation = self.conversation(&page.state).await?;
                conversation.summary = page.state.summary.text();
                // it names another conversation, which might not be shared
                conversation.forked_from = None;
                Some(conversation)
            }
            false => None,
        };
        Ok(proto::ReadSharedResponse {
            conversation,
            utterances: page.utterances.iter().map(|utterance| shown(utterance, &page.state)).collect(),
            next_page_token: asked.token_of(page.rest),
            expire_time: Some(encode::time(share.expire_time)),
        })
    }
}

/// Converts an utterance, without the original content of an edit.
fn shown(utterance: &Utterance, state: &Conversation) -> proto::Utterance {
    proto::Utterance { original_content: None, ..encode::utterance(utterance, state) }
}

/// Converts a share, without its token.
pub fn message(share: &Share) -> proto::ConversationShare {
    proto::ConversationShare {
        share_id: share.id.to_string(),
        create_time: Some(encode::time(share.create_time)),
        expire_time: Some(encode::time(share.expire_time)),
        include_archive: share.include_archive,
    }
}

fn lifetime(ttl: Option<prost_types::Duration>) -> Result<Duration, Refusal> {
    let Some(ttl) = ttl else { return Ok(DEFAULT_SHARE_LIFETIME) };
    let lifetime = decode::duration("ttl", ttl)?;
    match lifetime.as_micros() > 0 && lifetime <= MAX_SHARE_LIFETIME {
        true => Ok(lifetime),
        false => {
            let text = format!("is {lifetime:?}; accepted: more than 0 s, up to {MAX_SHARE_LIFETIME:?}");
            Err(Refusal::invalid("ttl", text))
        }
    }
}
