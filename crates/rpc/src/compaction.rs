//! CompactionService.

use crate::convert::status::OrStatus;
use std::sync::Arc;

use prost::Message;
use tonic::{Request, Response, Status};

use crate::{
    Services,
    convert::{decode, encode, page_token::page_of},
    proto::{self, CompactionAnswer, compaction_service_server::CompactionService},
};
use utterd_domain::{
    Conversation, Refusal,
    compaction::{Answer, Cause, Compact, Compaction, Extent, Undo},
    limits::{DEFAULT_KEEP_RECENT, MAX_COMPACTIONS},
};
use utterd_engine::{Applied, Call, Operation, PageRoom};

/// Compactions per page, by default and at most: all of a conversation's.
const ENTRIES: (usize, usize) = (MAX_COMPACTIONS, MAX_COMPACTIONS);

#[tonic::async_trait]
impl CompactionService for Services {
    async fn compact_conversation(
        &self,
        request: Request<proto::CompactConversationRequest>,
    ) -> Result<Response<proto::CompactConversationResponse>, Status> {
        let caller = self.caller(&request);
        let patience = decode::patience(request.metadata()).or_status()?;
        let request = request.into_inner();
        let (wait, preview) = (request.wait_for_llm, request.preview);
        let call = compact_call(request).or_status()?;
        let mut reply = match preview {
            true => self.engine.preview_compaction(&caller, &call.address, call.command).await.or_status()?,
            false => self.engine.apply(&caller, call).await.or_status()?,
        };
        if wait && !preview {
            reply = self.engine.wait_for_llm_text(reply, patience).await.or_status()?;
        }
        let mut compaction = made(&reply);
        if let Some(made) = compaction.as_mut().filter(|_| preview) {
            (made.compaction_number, made.undoable) = (None, false);
        }
        Ok(Response::new(proto::CompactConversationResponse {
            conversation_id: reply.outcome.conversation.to_string(),
            revision: encode::long(reply.outcome.revision.get()),
            compaction,
            summary: summary(&reply),
            capacity: Some(self.capacity(&reply, None)),
            replayed: reply.replayed(),
            nothing_to_compact: reply.outcome.evicted.is_empty(),
        }))
    }

    async fn undo_compaction(
        &self,
        request: Request<proto::UndoCompactionRequest>,
    ) -> Result<Response<proto::UndoCompactionResponse>, Status> {
        let caller = self.caller(&request);
        let call = undo_call(request.into_inner()).or_status()?;
        let reply = self.engine.apply(&caller, call).await.or_status()?;
        let outcome = &reply.outcome;
        // of the compactions undone at the same time, the one with the restored utterances
        let undone = |compaction: &Compaction| {
            compaction.undone == Some(outcome.time) && outcome.restored.holds(&compaction.compacted)
        };
        Ok(Response::new(proto::UndoCompactionResponse {
            conversation_id: outcome.conversation.to_string(),
            revision: encode::long(outcome.revision.get()),
            compaction: recorded(&reply, reply.value.as_ref(), undone),
            restored: encode::refs(&outcome.restored, outcome),
            capacity: Some(self.capacity(&reply, None)),
            replayed: reply.replayed(),
        }))
    }

    async fn list_compactions(
        &self,
        request: Request<proto::ListCompactionsRequest>,
    ) -> Result<Response<proto::ListCompactionsResponse>, Status> {
        let caller = self.caller(&request);
        let mut request = request.into_inner();
        let page = page_of!("ListCompactions", request, ENTRIES).or_status()?;
        let before = page.number::<u32>().or_status()?.unwrap_or(u32::MAX);
        let address = decode::read_address_of!(request).or_status()?;
        let state = self
            .engine
            .read_for(&caller, &address, Operation::ListCompactions, |state| state.compactions.len())
            .await
            .or_status()?;
        let older = state.compactions.iter().rev().filter(|compaction| compaction.number < before);
        let (mut response, mut room) =
            (proto::ListCompactionsResponse::default(), PageRoom::new(page.limit, 0));
        let mut last = 0;
        for made in older {
            let message = compaction(made, &state);
            if !room.takes(message.encoded_len() + 8) {
                response.next_page_token = page.token(&[&last]);
                break;
            }
            last = made.number;
            response.compactions.push(message);
        }
        Ok(Response::new(response))
    }

    async fn answer_compaction_prompt(
        &self,
        request: Request<proto::AnswerCompactionPromptRequest>,
    ) -> Result<Response<proto::AnswerCompactionPromptResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let answer = answer(&request).or_status()?;
        let session = decode::session(&request.session_id).or_status()?;
        let response = match answer {
            CompactionAnswer::CompactNow => {
                let reply =
                    self.engine.apply(&caller, advised_call(&request).or_status()?).await.or_status()?;
                proto::AnswerCompactionPromptResponse {
                    nothing_to_compact: reply.outcome.evicted.is_empty(),
                    ..self.answered(&reply, made(&reply))
                }
            }
            CompactionAnswer::NeverThisSession => {
                let address = decode::address(&request.conversation_id, &request.recipient_id).or_status()?;
                let state =
                    self.engine.silence_advice(&caller, &address, session.as_deref()).await.or_status()?;
                proto::AnswerCompactionPromptResponse {
                    conversation_id: state.key().id.to_string(),
                    revision: encode::long(state.head.revision.get()),
                    compaction: None,
                    summary: String::new(),
                    capacity: Some(self.capacity_in(&state, session.as_deref())),
                    replayed: false,
                    nothing_to_compact: false,
                }
            }
            _ => self.answered(
                &self.engine.apply(&caller, decline_call(&request).or_status()?).await.or_status()?,
                None,
            ),
        };
        Ok(Response::new(response))
    }
}

impl Services {
    fn answered<T>(
        &self,
        reply: &Applied<T>,
        compaction: Option<proto::Compaction>,
    ) -> proto::AnswerCompactionPromptResponse {
        proto::AnswerCompactionPromptResponse {
            conversation_id: reply.outcome.conversation.to_string(),
            revision: encode::long(reply.outcome.revision.get()),
            summary: compaction.as_ref().map(|_| summary(reply)).unwrap_or_default(),
            compaction,
            capacity: Some(self.capacity(reply, None)),
            replayed: reply.replayed(),
            nothing_to_compact: false,
        }
    }
}

/// Returns the whole summary after a call.
fn summary<T>(reply: &Applied<T>) -> String {
    reply.state.as_ref().map(|state| state.summary.text()).unwrap_or_default()
}

fn compact_call(request: proto::CompactConversationRequest) -> Result<Call<Compact>, Refusal> {
    let attempt = decode::attempt_of!("CompactConversation", request)?;
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Compact {
            extent: extent(request.keep_recent, request.count)?,
            summarises: !request.no_summary,
            focus: decode::focus(request.focus_areas)?,
            cause: Cause::Asked,
            expected: decode::revision(request.expected_revision)?,
        },
        attempt,
    })
}

fn advised_call(request: &proto::AnswerCompactionPromptRequest) -> Result<Call<Compact>, Refusal> {
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Compact {
            extent: extent(request.keep_recent, None)?,
            summarises: true,
            focus: Vec::new(),
            cause: Cause::Advised,
            expected: None,
        },
        attempt: decode::attempt_of!("AnswerCompactionPrompt", request)?,
    })
}

fn decline_call(request: &proto::AnswerCompactionPromptRequest) -> Result<Call<Answer>, Refusal> {
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Answer { expected: None },
        attempt: decode::attempt_of!("AnswerCompactionPrompt", request)?,
    })
}

fn undo_call(request: proto::UndoCompactionRequest) -> Result<Call<Undo>, Refusal> {
    let attempt = decode::attempt_of!("UndoCompaction", request)?;
    Ok(Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: Undo { expected: decode::revision(request.expected_revision)? },
        attempt,
    })
}

fn extent(keep_recent: Option<i32>, count: Option<i32>) -> Result<Extent, Refusal> {
    match (keep_recent, count) {
        (Some(_), Some(_)) => {
            Err(Refusal::invalid("count", "is given with keep_recent; accepted: one of them"))
        }
        (_, Some(count)) => decode::positive("count", count).map(Extent::Oldest),
        (Some(keep), None) => decode::positive("keep_recent", keep).map(Extent::AllBut),
        (None, None) => Ok(Extent::AllBut(DEFAULT_KEEP_RECENT)),
    }
}

fn answer(request: &proto::AnswerCompactionPromptRequest) -> Result<CompactionAnswer, Refusal> {
    use CompactionAnswer::{CompactNow, NeverThisSession, NotNow};
    let answer = match CompactionAnswer::try_from(request.answer) {
        Ok(answer @ (CompactNow | NotNow | NeverThisSession)) => answer,
        _ => {
            let text = format!(
                "is {}; accepted: COMPACT_NOW (1), NOT_NOW (2) and NEVER_THIS_SESSION (3)",
                request.answer
            );
            return Err(Refusal::invalid("answer", text));
        }
    };
    if request.keep_recent.is_some() && answer != CompactNow {
        return Err(Refusal::invalid("keep_recent", "is accepted only with COMPACT_NOW"));
    }
    if !request.session_id.is_empty() && answer != NeverThisSession {
        return Err(Refusal::invalid("session_id", "is accepted only with NEVER_THIS_SESSION"));
    }
    Ok(answer)
}

/// Returns the compaction that a call made, if something was left to compact.
fn made(reply: &Applied<Option<Arc<Compaction>>>) -> Option<proto::Compaction> {
    let outcome = &reply.outcome;
    let made =
        |compaction: &Compaction| !outcome.evicted.is_empty() && compaction.revision == outcome.revision;
    recorded(reply, reply.value.as_ref().and_then(Option::as_ref), made)
}

/// Converts the compaction that a call decided on. For a replay, this is the conversation's newest compaction
/// that is `wanted`.
fn recorded<T>(
    reply: &Applied<T>,
    decided: Option<&Arc<Compaction>>,
    wanted: impl Fn(&Compaction) -> bool,
) -> Option<proto::Compaction> {
    let state = reply.state.as_deref()?;
    let found = || state.compactions.iter().rfind(|compaction| wanted(compaction));
    Some(compaction(decided.or_else(found)?, state))
}

/// Converts a compaction of `state`.
fn compaction(made: &Compaction, state: &Conversation) -> proto::Compaction {
    proto::Compaction {
        compaction_number: Some(encode::int(made.number)),
        time: Some(encode::time(made.time)),
        cause: encode::same_name!(made.cause, Cause to CompactionCause: Asked Advised Policy).into(),
        compacted: encode::ranges(&made.compacted),
        compacted_utterance_count: Some(encode::int(made.count)),
        kept_utterance_count: Some(encode::int(made.kept)),
        source_token_count: Some(encode::int(made.source_tokens)),
        token_count_before: Some(encode::int(made.tokens_before)),
        token_count_after: Some(encode::int(made.tokens_after)),
        compression_ratio: Some(made.ratio()),
        method: match made.model {
            _ if !made.summarised => proto::SummaryMethod::Unspecified.into(),
            Some(_) => proto::SummaryMethod::Llm.into(),
            None => proto::SummaryMethod::Extractive.into(),
        },
        model: made.model.as_ref().map(ToString::to_string).unwrap_or_default(),
        undo_time: made.undone.map(encode::time),
        undoable: state.can_undo(made),
        keep_recent: made.keep_recent.map(encode::int),
    }
}
