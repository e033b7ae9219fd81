//! CompactionService.

use std::{sync::Arc, time::Duration};

use tonic::{Request, Response, Status};

use crate::{
    domain::{
        Conversation, Refusal,
        compaction::{Answer, Cause, Compact, Compaction, Undo},
        limits::{DEFAULT_KEEP_RECENT, MAX_COMPACTIONS},
    },
    engine::{AnswerCall, Applied, Caller, CompactCall, CompactReply, UndoCall},
    proto::{self, CompactionAnswer, compaction_service_server::CompactionService},
    rpc::{Services, decode, encode, page_token, page_token::QueryHash},
};

/// Compactions of a page, by default and at most.
const ENTRIES: (usize, usize) = (20, MAX_COMPACTIONS);

#[tonic::async_trait]
impl CompactionService for Services {
    async fn compact_conversation(
        &self,
        request: Request<proto::CompactConversationRequest>,
    ) -> Result<Response<proto::CompactConversationResponse>, Status> {
        let caller = self.caller(&request);
        let patience = decode::patience(request.metadata())?;
        let request = request.into_inner();
        let wait = request.wait_for_llm;
        let call = compact_call(request)?;
        let preview = call.preview;
        let mut reply = self.engine.compact_conversation(&caller, call).await?;
        if wait && !preview {
            reply = self.with_llm_summary(reply, patience).await?;
        }
        let done = self.done(reply, preview);
        Ok(Response::new(proto::CompactConversationResponse {
            conversation_id: done.conversation_id,
            revision: done.revision,
            compaction: done.compaction,
            summary: done.summary,
            capacity: Some(done.capacity),
            replayed: done.replayed,
        }))
    }

    async fn undo_compaction(
        &self,
        request: Request<proto::UndoCompactionRequest>,
    ) -> Result<Response<proto::UndoCompactionResponse>, Status> {
        let caller = self.caller(&request);
        let call = undo_call(request.into_inner())?;
        let response = match self.engine.undo_compaction(&caller, call).await? {
            Applied::Now { after, value: (undone, returned), .. } => proto::UndoCompactionResponse {
                conversation_id: after.key().id.to_string(),
                revision: encode::long(after.head.revision.get()),
                compaction: Some(compaction(&undone, &after)),
                restored: encode::refs(&returned, &after),
                capacity: Some(self.capacity(&after)),
                replayed: false,
            },
            Applied::Earlier(earlier) => proto::UndoCompactionResponse {
                conversation_id: earlier.outcome.conversation.to_string(),
                revision: encode::long(earlier.outcome.revision.get()),
                compaction: recorded(earlier.conversation.as_deref(), |compaction| {
                    // of those undone at the same moment, the one whose utterances came back
                    compaction.undone == Some(earlier.outcome.time)
                        && earlier.outcome.restored.holds(&compaction.compacted)
                }),
                restored: encode::earlier_refs(&earlier.outcome.restored, &earlier),
                capacity: Some(self.earlier_capacity(&earlier)),
                replayed: true,
            },
        };
        Ok(Response::new(response))
    }

    async fn list_compactions(
        &self,
        request: Request<proto::ListCompactionsRequest>,
    ) -> Result<Response<proto::ListCompactionsResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let query = QueryHash::of(
            "ListCompactions",
            &proto::ListCompactionsRequest { page_size: 0, page_token: String::new(), ..request.clone() },
        );
        let before = match page_token::read(&request.page_token, query)? {
            Some(place) => place.number::<u32>()?,
            None => u32::MAX,
        };
        let address = decode::address(&request.conversation_id, &request.recipient_id)?;
        let limit = decode::page_size(request.page_size, ENTRIES.0, ENTRIES.1)?;
        let state = self.engine.compactions(&caller, &address).await?;
        let older = state.compactions.iter().rev().filter(|compaction| compaction.number < before);
        let page: Vec<&Arc<Compaction>> = older.clone().take(limit).collect();
        let last = page.last().filter(|_| older.count() > page.len()).map(|last| last.number);
        Ok(Response::new(proto::ListCompactionsResponse {
            compactions: page.into_iter().map(|made| compaction(made, &state)).collect(),
            next_page_token: last.map(|last| page_token::write(query, &[&last])).unwrap_or_default(),
        }))
    }

    async fn answer_compaction_prompt(
        &self,
        request: Request<proto::AnswerCompactionPromptRequest>,
    ) -> Result<Response<proto::AnswerCompactionPromptResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let answer = answer(&request)?;
        let session = decode::session(&request.session_id)?;
        let done = match answer {
            CompactionAnswer::CompactNow => {
                let call = advised_call(&request)?;
                self.done(self.engine.compact_conversation(&caller, call).await?, false)
            }
            CompactionAnswer::NeverThisSession => {
                let address = decode::address(&request.conversation_id, &request.recipient_id)?;
                let state = self.engine.silence_advice(&caller, &address, session.as_deref()).await?;
                self.standing(&state, session.as_deref())
            }
            _ => self.not_now(&caller, &request).await?,
        };
        Ok(Response::new(proto::AnswerCompactionPromptResponse {
            conversation_id: done.conversation_id,
            revision: done.revision,
            compaction: done.compaction,
            capacity: Some(done.capacity),
            replayed: done.replayed,
        }))
    }
}

/// What a compaction, or an answer, came to.
struct Done {
    conversation_id: String,
    revision: i64,
    compaction: Option<proto::Compaction>,
    summary: String,
    capacity: proto::Capacity,
    replayed: bool,
}

impl Services {
    /// A compaction as it stands once the model has told what it can within `patience`.
    async fn with_llm_summary(
        &self,
        reply: CompactReply,
        patience: Option<Duration>,
    ) -> Result<CompactReply, Status> {
        let Applied::Now { after, change, ended, value } = reply else { return Ok(reply) };
        let after = self.engine.wait_for_retelling(after, &value, patience).await?;
        let made = after.compactions.iter().find(|made| made.number == value.number).cloned();
        Ok(Applied::Now { after, change, ended, value: made.unwrap_or(value) })
    }

    fn done(&self, reply: CompactReply, preview: bool) -> Done {
        match reply {
            Applied::Now { after, value, .. } => {
                let mut made = compaction(&value, &after);
                let mut revision = encode::long(after.head.revision.get());
                if preview {
                    (made.compaction_number, made.undoable) = (0, false);
                    revision -= 1;
                }
                let mut capacity = self.capacity(&after);
                capacity.revision = revision;
                Done {
                    conversation_id: after.key().id.to_string(),
                    revision,
                    compaction: Some(made),
                    summary: after.summary.text(),
                    capacity,
                    replayed: false,
                }
            }
            Applied::Earlier(earlier) => Done {
                conversation_id: earlier.outcome.conversation.to_string(),
                revision: encode::long(earlier.outcome.revision.get()),
                compaction: recorded(earlier.conversation.as_deref(), |compaction| {
                    compaction.revision == earlier.outcome.revision
                }),
                summary: earlier.conversation.as_ref().map(|state| state.summary.text()).unwrap_or_default(),
                capacity: self.earlier_capacity(&earlier),
                replayed: true,
            },
        }
    }

    /// A conversation as it is.
    fn standing(&self, state: &Conversation, session: Option<&str>) -> Done {
        Done {
            conversation_id: state.key().id.to_string(),
            revision: encode::long(state.head.revision.get()),
            compaction: None,
            summary: String::new(),
            capacity: self.capacity_in(state, session),
            replayed: false,
        }
    }

    async fn not_now(
        &self,
        caller: &Caller,
        request: &proto::AnswerCompactionPromptRequest,
    ) -> Result<Done, Status> {
        let call = AnswerCall {
            address: decode::address(&request.conversation_id, &request.recipient_id)?,
            answer: Answer { expected: None },
            attempt: attempt(request)?,
        };
        Ok(match self.engine.decline_compaction(caller, call).await? {
            Applied::Now { after, .. } => self.standing(&after, None),
            Applied::Earlier(earlier) => Done {
                conversation_id: earlier.outcome.conversation.to_string(),
                revision: encode::long(earlier.outcome.revision.get()),
                compaction: None,
                summary: String::new(),
                capacity: self.earlier_capacity(&earlier),
                replayed: true,
            },
        })
    }
}

fn compact_call(request: proto::CompactConversationRequest) -> Result<CompactCall, Refusal> {
    let attempt = decode::attempt("CompactConversation", &request.request_id, || {
        proto::CompactConversationRequest { request_id: String::new(), ..request.clone() }
    })?;
    Ok(CompactCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        compact: Compact {
            keep_recent: keep_recent(request.keep_recent)?,
            focus: decode::focus(request.focus_areas)?,
            cause: Cause::Asked,
            expected: decode::revision(request.expected_revision)?,
        },
        preview: request.preview,
        attempt,
    })
}

fn advised_call(request: &proto::AnswerCompactionPromptRequest) -> Result<CompactCall, Refusal> {
    Ok(CompactCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        compact: Compact {
            keep_recent: keep_recent(request.keep_recent)?,
            focus: Vec::new(),
            cause: Cause::Advised,
            expected: None,
        },
        preview: false,
        attempt: attempt(request)?,
    })
}

fn attempt(
    request: &proto::AnswerCompactionPromptRequest,
) -> Result<Option<crate::engine::Attempt>, Refusal> {
    decode::attempt("AnswerCompactionPrompt", &request.request_id, || proto::AnswerCompactionPromptRequest {
        request_id: String::new(),
        ..request.clone()
    })
}

fn undo_call(request: proto::UndoCompactionRequest) -> Result<UndoCall, Refusal> {
    let attempt = decode::attempt("UndoCompaction", &request.request_id, || proto::UndoCompactionRequest {
        request_id: String::new(),
        ..request.clone()
    })?;
    Ok(UndoCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        undo: Undo { expected: decode::revision(request.expected_revision)? },
        attempt,
    })
}

fn keep_recent(given: Option<i32>) -> Result<u32, Refusal> {
    given.map_or(Ok(DEFAULT_KEEP_RECENT), |given| decode::positive("keep_recent", given))
}

fn answer(request: &proto::AnswerCompactionPromptRequest) -> Result<CompactionAnswer, Refusal> {
    use CompactionAnswer::{CompactNow, NeverThisSession, NotNow};
    let answer = match CompactionAnswer::try_from(request.answer) {
        Ok(answer @ (CompactNow | NotNow | NeverThisSession)) => answer,
        _ => {
            let text = format!(
                "is {}; accepted are COMPACT_NOW (1), NOT_NOW (2) and NEVER_THIS_SESSION (3)",
                request.answer
            );
            return Err(Refusal::invalid("answer", text));
        }
    };
    if request.keep_recent.is_some() && answer != CompactNow {
        return Err(Refusal::invalid("keep_recent", "goes only with COMPACT_NOW"));
    }
    if !request.session_id.is_empty() && answer != NeverThisSession {
        return Err(Refusal::invalid("session_id", "goes only with NEVER_THIS_SESSION"));
    }
    Ok(answer)
}

fn recorded(state: Option<&Conversation>, wanted: impl Fn(&Compaction) -> bool) -> Option<proto::Compaction> {
    let state = state?;
    let found = state.compactions.iter().rfind(|compaction| wanted(compaction))?;
    Some(compaction(found, state))
}

/// A compaction of `state` on the wire.
fn compaction(made: &Compaction, state: &Conversation) -> proto::Compaction {
    proto::Compaction {
        compaction_number: encode::int(made.number),
        time: Some(encode::time(made.time)),
        cause: match made.cause {
            Cause::Asked => proto::CompactionCause::Asked.into(),
            Cause::Advised => proto::CompactionCause::Advised.into(),
            Cause::Policy => proto::CompactionCause::Policy.into(),
        },
        compacted: encode::ranges(&made.compacted),
        compacted_utterance_count: Some(encode::int(made.count)),
        kept_utterance_count: Some(encode::int(made.kept)),
        source_token_count: Some(encode::int(made.source_tokens)),
        token_count_before: Some(encode::int(made.tokens_before)),
        token_count_after: Some(encode::int(made.tokens_after)),
        compression_ratio: made.ratio(),
        method: match made.model {
            Some(_) => proto::SummaryMethod::Llm.into(),
            None => proto::SummaryMethod::Extractive.into(),
        },
        model: made.model.as_ref().map(ToString::to_string).unwrap_or_default(),
        undo_time: made.undone.map(encode::time),
        undoable: state.can_undo(made),
    }
}
