//! ConversationService.

use crate::convert::status::OrStatus;
use std::sync::Arc;

use tonic::{Request, Response, Status, Streaming};

use crate::{
    Responses, Room, Services,
    convert::{decode, encode, page_token::page_of},
    proto::{self, conversation_service_server::ConversationService},
};
use utterd_domain::{
    Conversation, Refusal, draft::check_map, limits::MAX_TITLE_BYTES, quoted, update::Update,
};
use utterd_engine::{Call, CreateCall, ListUtterances, Operation};
use utterd_tokenizer as tokenizer;

#[tonic::async_trait]
impl ConversationService for Services {
    async fn create_conversation(
        &self,
        request: Request<proto::CreateConversationRequest>,
    ) -> Result<Response<proto::CreateConversationResponse>, Status> {
        let caller = self.caller(&request);
        let call = self.create_call(request.into_inner()).or_status()?;
        let reply = self.engine.create_conversation(&caller, call).await.or_status()?;
        Ok(Response::new(proto::CreateConversationResponse {
            conversation: self.conversation_of(&reply).await?,
            replayed: reply.replayed(),
        }))
    }

    async fn get_conversation(
        &self,
        request: Request<proto::GetConversationRequest>,
    ) -> Result<Response<proto::GetConversationResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.viewed(&caller, request.into_inner()).await?))
    }

    async fn list_conversations(
        &self,
        request: Request<proto::ListConversationsRequest>,
    ) -> Result<Response<proto::ListConversationsResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.listed(&caller, request.into_inner()).await?))
    }

    async fn update_conversation(
        &self,
        request: Request<proto::UpdateConversationRequest>,
    ) -> Result<Response<proto::UpdateConversationResponse>, Status> {
        let caller = self.caller(&request);
        let call = update_call(self, request.into_inner()).or_status()?;
        let reply = self.engine.apply(&caller, call).await.or_status()?;
        Ok(Response::new(proto::UpdateConversationResponse {
            conversation: self.conversation_of(&reply).await?,
            evicted: encode::refs(&reply.outcome.evicted, &reply.outcome),
            summary: encode::summary_update(&reply),
            capacity: Some(self.capacity(&reply, None)),
            replayed: reply.replayed(),
        }))
    }

    type ExportConversationStream = Responses<proto::ExportConversationResponse>;

    async fn export_conversation(
        &self,
        request: Request<proto::ExportConversationRequest>,
    ) -> Result<Response<Self::ExportConversationStream>, Status> {
        let caller = self.caller(&request);
        let room = Room::of(request.extensions());
        Ok(self.until_closing(self.export(caller, room, request.into_inner()).await?))
    }

    async fn import_conversation(
        &self,
        request: Request<Streaming<proto::ImportConversationRequest>>,
    ) -> Result<Response<proto::ImportConversationResponse>, Status> {
        let caller = self.caller(&request);
        let room = Room::of(request.extensions());
        Ok(Response::new(self.import(&caller, room, request.into_inner()).await?))
    }

    async fn end_conversation(
        &self,
        request: Request<proto::EndConversationRequest>,
    ) -> Result<Response<proto::EndConversationResponse>, Status> {
        let caller = self.caller(&request);
        let patience = decode::patience(request.metadata()).or_status()?;
        Ok(Response::new(self.end(&caller, request.into_inner(), patience).await?))
    }

    async fn delete_conversation(
        &self,
        request: Request<proto::DeleteConversationRequest>,
    ) -> Result<Response<proto::DeleteConversationResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let id = decode::conversation_id(&request.conversation_id).or_status()?;
        let expected = decode::revision(request.expected_revision).or_status()?;
        let removed = self.engine.delete_conversation(&caller, id, expected).await.or_status()?;
        Ok(Response::new(proto::DeleteConversationResponse { utterance_count: Some(encode::int(removed)) }))
    }

    async fn get_stats(
        &self,
        request: Request<proto::GetStatsRequest>,
    ) -> Result<Response<proto::GetStatsResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.stats(&caller, request.get_ref()).await?))
    }

    async fn delete_recipient(
        &self,
        request: Request<proto::DeleteRecipientRequest>,
    ) -> Result<Response<proto::DeleteRecipientResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.remove_recipient(&caller, request.get_ref()).await?))
    }

    async fn share_conversation(
        &self,
        request: Request<proto::ShareConversationRequest>,
    ) -> Result<Response<proto::ShareConversationResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.share(&caller, request.get_ref()).await?))
    }

    async fn revoke_share(
        &self,
        request: Request<proto::RevokeShareRequest>,
    ) -> Result<Response<proto::RevokeShareResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.revoke(&caller, request.get_ref()).await?))
    }

    async fn read_shared(
        &self,
        request: Request<proto::ReadSharedRequest>,
    ) -> Result<Response<proto::ReadSharedResponse>, Status> {
        Ok(Response::new(self.shared(request.into_inner()).await?))
    }

    async fn list_utterances(
        &self,
        request: Request<proto::ListUtterancesRequest>,
    ) -> Result<Response<proto::ListUtterancesResponse>, Status> {
        let caller = self.caller(&request);
        let mut request = request.into_inner();
        let part = page_of!("ListUtterances", request, decode::PAGE).or_status()?;
        let (after, before) = decode::between(request.after_sequence, request.before_sequence).or_status()?;
        let list = ListUtterances {
            address: decode::read_address_of!(request).or_status()?,
            last: decode::given(|| "last", request.last, decode::positive)
                .or_status()?
                .map(|last| last as usize),
            after,
            before,
            newest_first: newest_first(request.order).or_status()?,
            archive: request.include_archive,
            forgotten: request.include_forgotten,
            rest: part.sequences().or_status()?,
            limit: part.limit,
        };
        let page = self.engine.list_utterances(&caller, &list).await.or_status()?;
        Ok(Response::new(proto::ListUtterancesResponse {
            utterances: page
                .utterances
                .iter()
                .map(|utterance| encode::utterance(utterance, &page.state))
                .collect(),
            next_page_token: part.token_of(page.rest),
        }))
    }

    async fn list_messages(
        &self,
        request: Request<proto::ListMessagesRequest>,
    ) -> Result<Response<proto::ListMessagesResponse>, Status> {
        Ok(Response::new(self.messages_out(request).await?))
    }

    async fn get_summary(
        &self,
        request: Request<proto::GetSummaryRequest>,
    ) -> Result<Response<proto::GetSummaryResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let address = decode::read_address_of!(request).or_status()?;
        let state = self
            .engine
            .read_for(&caller, &address, Operation::GetSummary, |state| state.summary.segments().len())
            .await
            .or_status()?;
        Ok(Response::new(proto::GetSummaryResponse {
            conversation_id: encode::id(&state),
            text: state.summary.text(),
            token_count: Some(encode::int(state.summary.tokens())),
            segments: state.summary.segments().iter().map(|segment| encode::segment(segment)).collect(),
            revision: encode::long(state.head.revision.get()),
        }))
    }

    async fn get_state(
        &self,
        request: Request<proto::GetStateRequest>,
    ) -> Result<Response<proto::GetStateResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.state(&caller, request.into_inner()).await?))
    }

    async fn update_state(
        &self,
        request: Request<proto::UpdateStateRequest>,
    ) -> Result<Response<proto::UpdateStateResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.change_state(&caller, request.into_inner()).await?))
    }

    async fn update_utterance(
        &self,
        request: Request<proto::UpdateUtteranceRequest>,
    ) -> Result<Response<proto::UpdateUtteranceResponse>, Status> {
        let caller = self.caller(&request);
        self.edit(&caller, request.into_inner()).await.map(Response::new)
    }

    async fn fork_conversation(
        &self,
        request: Request<proto::ForkConversationRequest>,
    ) -> Result<Response<proto::ForkConversationResponse>, Status> {
        let caller = self.caller(&request);
        self.fork(&caller, request.into_inner()).await.map(Response::new)
    }
}

impl Services {
    pub(super) async fn conversation(
        &self,
        state: &Arc<Conversation>,
    ) -> Result<proto::Conversation, Status> {
        let active = self.engine.is_active(state).await.or_status()?;
        let status = self.status_of(state);
        Ok(encode::conversation(&state.head, status, active))
    }

    fn create_call(&self, request: proto::CreateConversationRequest) -> Result<CreateCall, Refusal> {
        let defaults = self.engine.defaults();
        let attempt = decode::attempt_of!("CreateConversation", request)?;
        let policy = match &request.policy {
            Some(policy) => self.policy_update(policy)?.apply(&defaults.policy, "policy")?,
            None => defaults.policy.clone(),
        };
        check_map(|| "labels".to_owned(), &request.labels)?;
        let encoding = match request.encoding.as_str() {
            "" => defaults.encoding,
            name => encoding("encoding", name)?,
        };
        Ok(CreateCall {
            address: decode::address(&request.conversation_id, &request.recipient_id)?,
            title: title(&request.title)?,
            policy,
            labels: request.labels,
            encoding,
            inactive: request.inactive,
            attempt,
        })
    }
}

/// Returns the encoding with this name, or of the model with this name.
pub fn encoding(field: &str, name: &str) -> Result<utterd_domain::Encoding, Refusal> {
    tokenizer::encoding_for(name).ok_or_else(|| {
        let names: Vec<_> = utterd_domain::Encoding::ALL.iter().map(|encoding| encoding.name()).collect();
        let text =
            format!("is {}; accepted: {} and the names of OpenAI models", quoted(name), names.join(", "));
        Refusal::invalid(field, text)
    })
}

/// Checks a title; an empty one is `None`.
pub fn title(title: &str) -> Result<Option<Arc<str>>, Refusal> {
    decode::line("title", title, MAX_TITLE_BYTES)?;
    Ok((!title.is_empty()).then(|| title.into()))
}

/// Whether a list starts with the newest entry.
pub(super) fn newest_first(order: i32) -> Result<bool, Refusal> {
    let accepted = "OLDEST_FIRST (1) and NEWEST_FIRST (2)";
    Ok(match decode::choice("order", order, accepted)? {
        proto::ListOrder::Unspecified | proto::ListOrder::OldestFirst => false,
        proto::ListOrder::NewestFirst => true,
    })
}

fn update_call(
    services: &Services,
    request: proto::UpdateConversationRequest,
) -> Result<Call<Update>, Refusal> {
    let attempt = decode::attempt_of!("UpdateConversation", request)?;
    let paths = decode::mask(request.update_mask.as_ref(), &["title", "policy", "labels"])?;
    let has = |path: &str| paths.iter().any(|given| given == path);
    check_map(|| "labels".to_owned(), &request.labels)?;
    let policy = match (&request.policy, has("policy")) {
        (Some(policy), true) => Some(services.policy_update(policy)?),
        (None, true) => return Err(Refusal::invalid("policy", "is missing, but update_mask names it")),
        (_, false) => None,
    };
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Update {
            title: has("title").then(|| title(&request.title)).transpose()?,
            labels: has("labels").then(|| request.labels.clone()),
            policy,
            expected: decode::revision(request.expected_revision)?,
        },
        attempt,
    })
}
