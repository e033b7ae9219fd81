//! MemoryService.

use crate::convert::status::{IntoStatus, OrStatus};
use std::time::Duration;

use futures::stream;
use tonic::{Request, Response, Status, Streaming};

use crate::{
    Responses, Services,
    convert::{decode, encode, page_token::page_of},
    proto::{self, memory_service_server::MemoryService},
};
use utterd_domain::{
    Reason, Refusal, extract::Untold, forget::restore::Restore, limits::MAX_PROMPT_BYTES, recall::Floor,
};
use utterd_engine::{
    Call, Found, Operation, Order, Patience, RememberCall, Scope, SummarizeCall, SummarizeScope,
};

/// Matches per page, by default and at most.
const MATCHES: (usize, usize) = (10, 1_000);
/// The maximum number of neighbors of a match on either side.
const MAX_NEIGHBORS: u32 = 10;
/// The maximum number of ids in one Restore.
const MAX_RESTORED: usize = 1_000;

#[tonic::async_trait]
impl MemoryService for Services {
    async fn memorize(
        &self,
        request: Request<proto::MemorizeRequest>,
    ) -> Result<Response<proto::MemorizeResponse>, Status> {
        Ok(Response::new(self.memorize_one(request).await?))
    }

    type MemorizeStreamStream = Responses<proto::MemorizeStreamResponse>;

    async fn memorize_stream(
        &self,
        request: Request<Streaming<proto::MemorizeStreamRequest>>,
    ) -> Result<Response<Self::MemorizeStreamStream>, Status> {
        let (caller, pace) = (self.caller(&request), request.extensions().get().cloned());
        Ok(Response::new(Box::pin(self.memorize_all(caller, request.into_inner(), pace))))
    }

    async fn remember(
        &self,
        request: Request<proto::RememberRequest>,
    ) -> Result<Response<proto::RememberResponse>, Status> {
        let caller = self.caller(&request);
        let patience = decode::patience(request.metadata()).or_status()?;
        let mut request = request.into_inner();
        let page = page_of!("Remember", request, MATCHES).or_status()?;
        let skip = page.number::<u32>().or_status()?.unwrap_or(0) as usize;
        let call = remember_call(request).or_status()?;
        let call = RememberCall { patience, skip, limit: page.limit, ..call };
        let reply = self.engine.remember(&caller, &call).await.or_status()?;
        let next = skip + reply.found.len();
        let next_page_token = if reply.more { page.token(&[&next]) } else { String::new() };
        Ok(Response::new(proto::RememberResponse {
            matches: reply.found.into_iter().map(found).collect(),
            next_page_token,
        }))
    }

    async fn forget(
        &self,
        request: Request<proto::ForgetRequest>,
    ) -> Result<Response<proto::ForgetResponse>, Status> {
        let (caller, call, told) = self.forget_request(request).or_status()?;
        let reply = self.engine.forget(&caller, call).await.or_status()?;
        Ok(Response::new(self.forgotten(&told, &reply).await))
    }

    async fn restore(
        &self,
        request: Request<proto::RestoreRequest>,
    ) -> Result<Response<proto::RestoreResponse>, Status> {
        let caller = self.caller(&request);
        let call = restore_call(request.into_inner()).or_status()?;
        let reply = self.engine.apply(&caller, call).await.or_status()?;
        let outcome = &reply.outcome;
        Ok(Response::new(proto::RestoreResponse {
            conversation_id: outcome.conversation.as_str().to_owned(),
            revision: encode::long(outcome.revision.get()),
            restored: encode::refs(&outcome.restored, outcome),
            evicted: encode::refs(&outcome.evicted, outcome),
            capacity: Some(self.capacity(&reply, None)),
            replayed: reply.replayed(),
        }))
    }

    async fn summarize(
        &self,
        request: Request<proto::SummarizeRequest>,
    ) -> Result<Response<proto::SummarizeResponse>, Status> {
        let caller = self.caller(&request);
        let patience = decode::patience(request.metadata()).or_status()?;
        let call = summarize_call(request.into_inner(), patience).or_status()?;
        let reply = self.engine.summarize(&caller, &call).await.or_status()?;
        Ok(Response::new(proto::SummarizeResponse {
            conversation_id: encode::id(&reply.state),
            text: reply.text,
            token_count: Some(encode::int(reply.tokens)),
            sources: encode::ranges(&reply.sources),
            source_token_count: Some(encode::int(reply.source_tokens)),
            method: match reply.model {
                Some(_) => proto::SummaryMethod::Llm.into(),
                None => proto::SummaryMethod::Extractive.into(),
            },
            model: reply.model.unwrap_or_default(),
            llm_error: reply.without.unwrap_or_default(),
            warnings: reply.untold.iter().map(untold).collect(),
        }))
    }

    async fn get_capacity_info(
        &self,
        request: Request<proto::GetCapacityInfoRequest>,
    ) -> Result<Response<proto::GetCapacityInfoResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let address = decode::read_address_of!(request).or_status()?;
        let session = decode::session(&request.session_id).or_status()?;
        let state =
            self.engine.read_for(&caller, &address, Operation::GetCapacity, |_| 1).await.or_status()?;
        let capacity = Some(self.capacity_in(&state, session.as_deref()));
        let durable = Some(self.engine.is_durable());
        Ok(Response::new(proto::GetCapacityInfoResponse { capacity, durable }))
    }

    type WatchCapacityStream = Responses<proto::WatchCapacityResponse>;

    async fn watch_capacity(
        &self,
        request: Request<proto::WatchCapacityRequest>,
    ) -> Result<Response<Self::WatchCapacityStream>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let address = decode::address(&request.conversation_id, &request.recipient_id).or_status()?;
        let session = decode::session(&request.session_id).or_status()?;
        let watch = self.engine.watch_capacity(&caller, address).await.or_status()?;
        let watching = (self.clone(), session, Some(watch));
        let responses = stream::unfold(watching, |(services, session, watch)| async move {
            let mut watch = watch?;
            match watch.next().await {
                Ok(state) => {
                    let capacity = Some(services.capacity_in(&state, session.as_deref()));
                    let response = proto::WatchCapacityResponse { capacity };
                    Some((Ok(response), (services, session, Some(watch))))
                }
                Err(error) => Some((Err(error.into_status()), (services, session, None))),
            }
        });
        Ok(self.until_closing(responses))
    }
}

fn remember_call(request: proto::RememberRequest) -> Result<RememberCall, Refusal> {
    if request.prompt.len() > MAX_PROMPT_BYTES {
        return Err(Refusal::too_large("prompt", request.prompt.len(), MAX_PROMPT_BYTES));
    }
    let neighbors = decode::natural("neighbors", request.neighbors)?;
    if neighbors > MAX_NEIGHBORS {
        let text = format!("is {neighbors}; accepted: 0 to {MAX_NEIGHBORS}");
        return Err(Refusal::invalid("neighbors", text));
    }
    let address = decode::read_address_of!(request)?;
    let scope = decode::same_name!(
        "scope", request.scope, RememberScope to Scope: Window Conversation Recipient
    )?;
    Ok(RememberCall {
        scope: scope.unwrap_or_else(|| address.scope()),
        address,
        filter: decode::filter(request.filter.unwrap_or_default())?,
        order: order(request.order, &request.prompt)?,
        floor: Floor::of_search(decode::min_relevance("min_relevance", request.min_relevance)?),
        neighbors: neighbors.into(),
        skip: 0,
        limit: 0,
        patience: None,
        prompt: request.prompt,
    })
}

fn order(order: i32, prompt: &str) -> Result<Order, Refusal> {
    use proto::RememberOrder as Wire;
    match (decode::choice("order", order, "RELEVANCE (1) and RECENCY (2)")?, prompt.is_empty()) {
        (Wire::Unspecified, true) | (Wire::Recency, _) => Ok(Order::Recency),
        (Wire::Unspecified | Wire::Relevance, false) => Ok(Order::Relevance),
        (Wire::Relevance, true) => Err(Refusal::invalid("prompt", "is empty; the order RELEVANCE needs one")),
    }
}

fn found(found: Found) -> proto::Match {
    let state = &found.state;
    proto::Match {
        utterance: Some(encode::utterance(&found.utterance, state)),
        conversation_id: state.key().id.as_str().to_owned(),
        score: Some(found.score),
        relevance: Some(found.relevance),
        recency: Some(found.recency),
        matched_terms: found.matched.terms,
        matched_ranges: encode::text_ranges(&found.utterance.content, &found.matched.ranges),
        neighbors: found.neighbors.iter().map(|utterance| encode::utterance(utterance, state)).collect(),
    }
}

fn restore_call(request: proto::RestoreRequest) -> Result<Call<Restore>, Refusal> {
    let count = request.utterance_ids.len();
    if count == 0 || count > MAX_RESTORED {
        let reason = if count == 0 { Reason::EmptyBatch } else { Reason::BatchTooLarge };
        let text = format!("has {count} entries; accepted: 1 to {MAX_RESTORED}");
        return Err(Refusal::field(reason, "utterance_ids", text));
    }
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Restore {
            ids: request.utterance_ids.iter().map(|id| id.as_str().into()).collect(),
            expected: decode::revision(request.expected_revision)?,
        },
        attempt: decode::attempt_of!("Restore", request)?,
    })
}

fn summarize_call(
    request: proto::SummarizeRequest,
    patience: Option<Duration>,
) -> Result<SummarizeCall, Refusal> {
    Ok(SummarizeCall {
        address: decode::read_address_of!(request)?,
        scope: summarize_scope(&request)?,
        token_limit: decode::given(|| "token_limit", request.token_limit, decode::positive)?,
        focus: decode::focus(request.focus_areas)?,
        wait: request.wait_for_llm.then_some(Patience(patience)),
    })
}

fn untold(untold: &Untold) -> proto::Warning {
    let kind = match untold {
        Untold::NothingSelected => proto::WarningKind::NothingSelected,
        Untold::LimitTooSmall(_) => proto::WarningKind::TokenLimitTooSmall,
        Untold::NothingToTell => proto::WarningKind::NothingToSummarise,
    };
    encode::warning(kind, untold.to_string())
}

fn summarize_scope(request: &proto::SummarizeRequest) -> Result<SummarizeScope, Refusal> {
    use proto::SummarizeScope as Wire;
    let scope = decode::choice("scope", request.scope, "ALL (1), RECENT (2), EVICTED (3) and TURNS (4)")?;
    let only = |given: bool, field: &str, wanted: Wire| match given == (scope == wanted) {
        true => Ok(()),
        false if given => {
            Err(Refusal::invalid(field, format!("is accepted only with {}", wanted.as_str_name())))
        }
        false => Err(Refusal::invalid(field, format!("is missing; {} needs it", wanted.as_str_name()))),
    };
    only(request.recent_count.is_some(), "recent_count", Wire::Recent)?;
    only(request.first_turn.is_some(), "first_turn", Wire::Turns)?;
    only(request.last_turn.is_some(), "last_turn", Wire::Turns)?;
    match (scope, request.recent_count, request.first_turn.zip(request.last_turn)) {
        (Wire::Recent, Some(count), _) => {
            Ok(SummarizeScope::Recent(decode::positive("recent_count", count)? as usize))
        }
        (Wire::Turns, _, Some((first, last))) => {
            let (first, last) = (decode::natural("first_turn", first)?, decode::natural("last_turn", last)?);
            match last < first {
                true => Err(Refusal::invalid(
                    "last_turn",
                    format!("is {last}; accepted: {first}, the first_turn, or more"),
                )),
                false => Ok(SummarizeScope::Turns(first, last)),
            }
        }
        (Wire::Evicted, ..) => Ok(SummarizeScope::Evicted),
        _ => Ok(SummarizeScope::All),
    }
}
