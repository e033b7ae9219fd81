//! Memorize, one request at a time and as a stream.

use std::collections::VecDeque;

use futures::{Stream, StreamExt, stream};
use prost::Message;
use tonic::{Request, Status, Streaming};

use crate::{
    domain::Refusal,
    engine::{Caller, EngineError, MemorizeCall, MemorizePipeline, MemorizeReply},
    proto::{self, memorize_stream_response::Result as Outcome},
    rpc::{
        Services, clearer_status, decode, encode,
        endless::UntilClosing,
        paced::{Pace, Paced},
    },
};

impl Services {
    /// Who calls, of which session, and what for.
    pub(super) fn memorize_request(
        &self,
        request: Request<proto::MemorizeRequest>,
    ) -> Result<(Caller, Option<Box<str>>, MemorizeCall), Refusal> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let session = decode::session(&request.session_id)?;
        Ok((caller, session, self.memorize_call(request)?))
    }

    /// The responses to a stream of requests. Once the server closes, no further request is read,
    /// those that were are answered, and the stream ends with UNAVAILABLE.
    pub(super) fn memorize_all(
        &self,
        caller: Caller,
        messages: Streaming<proto::MemorizeStreamRequest>,
        pace: Option<Pace>,
    ) -> impl Stream<Item = Result<proto::MemorizeStreamResponse, Status>> + use<> {
        let conversation = Answering {
            services: self.clone(),
            pipeline: MemorizePipeline::new(self.engine.clone(), caller),
            sessions: VecDeque::new(),
            messages: UntilClosing::new(Paced::new(messages, pace), self.closing.clone()),
            ended: false,
            failure: None,
        };
        stream::unfold(conversation, |mut answering| async move {
            let response = answering.next().await?;
            Some((response, answering))
        })
    }

    fn memorize_call(&self, request: proto::MemorizeRequest) -> Result<MemorizeCall, Refusal> {
        Ok(MemorizeCall {
            address: decode::address(&request.conversation_id, &request.recipient_id)?,
            attempt: decode::attempt("Memorize", &request.request_id, || proto::MemorizeRequest {
                request_id: String::new(),
                ..request.clone()
            })?,
            expected: decode::revision(request.expected_revision)?,
            lenient: request.lenient,
            drafts: decode::drafts(request.utterances, self.limits, request.lenient)?,
        })
    }

    pub(super) fn memorized(&self, reply: MemorizeReply, session: Option<&str>) -> proto::MemorizeResponse {
        let outcome = &reply.outcome;
        proto::MemorizeResponse {
            conversation_id: outcome.conversation.to_string(),
            revision: encode::long(outcome.revision.get()),
            memorized: encode::refs(&outcome.memorized, &reply),
            evicted: encode::refs(&outcome.evicted, &reply),
            summary: encode::summary_update(&reply),
            capacity: Some(self.capacity(&reply, session)),
            started_conversation: outcome.started,
            replayed: reply.replayed(),
            ended_conversation_id: outcome.ended.as_ref().map(ToString::to_string).unwrap_or_default(),
            irregularities: reply.value.into_iter().flatten().map(encode::irregularity).collect(),
        }
    }
}

/// A stream of requests that is being answered.
struct Answering {
    services: Services,
    pipeline: MemorizePipeline,
    /// The sessions that the messages in the pipeline named.
    sessions: VecDeque<Option<Box<str>>>,
    messages: UntilClosing<Paced<Streaming<proto::MemorizeStreamRequest>>>,
    /// There are no more messages.
    ended: bool,
    /// What could not be read; it ends the stream, in its trailers.
    failure: Option<Status>,
}

impl Answering {
    /// The next response. Messages that are there are taken in before one has to be waited for, so that they
    /// are written together.
    async fn next(&mut self) -> Option<Result<proto::MemorizeStreamResponse, Status>> {
        loop {
            let (answers, reads) = (!self.pipeline.is_empty(), !self.ended && !self.pipeline.is_full());
            if self.pipeline.has_answer() {
                return self.answer().await;
            }
            tokio::select! {
                biased;
                message = self.messages.next(), if reads => self.take(message).await,
                () = self.pipeline.ready(), if answers => return self.answer().await,
                else => return self.failure.take().map(Err),
            }
        }
    }

    async fn answer(&mut self) -> Option<Result<proto::MemorizeStreamResponse, Status>> {
        let reply = self.pipeline.next().await?;
        let session = self.sessions.pop_front().flatten();
        Some(Ok(self.response(reply, session.as_deref())))
    }

    async fn take(&mut self, message: Option<Result<proto::MemorizeStreamRequest, Status>>) {
        match message {
            Some(Ok(message)) => {
                let missing = || Refusal::invalid("memorize", "is missing; accepted is a MemorizeRequest");
                let request = message.memorize.ok_or_else(missing);
                let session = request.as_ref().map(|request| decode::session(&request.session_id));
                let session = session.ok().and_then(|session| session.ok()).flatten();
                let call = request.and_then(|request| {
                    decode::session(&request.session_id)?;
                    self.services.memorize_call(request)
                });
                self.sessions.push_back(session);
                self.pipeline.push(call).await;
            }
            Some(Err(status)) => {
                let most = self.services.limits.max_message_bytes;
                self.failure = Some(clearer_status(&status, most).unwrap_or(status));
                self.ended = true;
            }
            None => self.ended = true,
        }
    }

    fn response(
        &self,
        reply: Result<MemorizeReply, EngineError>,
        session: Option<&str>,
    ) -> proto::MemorizeStreamResponse {
        let outcome = match reply {
            Ok(reply) => Outcome::Memorized(self.services.memorized(reply, session)),
            Err(error) => Outcome::Error(wire_status(&error.into())),
        };
        proto::MemorizeStreamResponse { result: Some(outcome) }
    }
}

/// A status as a message, with its details.
fn wire_status(status: &Status) -> tonic_types::pb::Status {
    tonic_types::pb::Status::decode(status.details()).unwrap_or_else(|_| tonic_types::pb::Status {
        code: status.code().into(),
        message: status.message().to_owned(),
        details: Vec::new(),
    })
}
