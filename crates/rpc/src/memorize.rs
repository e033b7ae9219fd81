//! Memorize and MemorizeStream.

use crate::convert::status::{IntoStatus, OrStatus};
use std::{collections::VecDeque, sync::Arc};

use futures::{Stream, StreamExt, stream};
use prost::Message;
use tonic::{Request, Status, Streaming};

use crate::{
    Services, clearer_status,
    convert::{
        decode, encode,
        messages::{Incoming, of_messages},
    },
    proto::{self, memorize_stream_response::Result as Outcome},
    state,
    streams::{
        endless::UntilClosing,
        paced::{Pace, Paced},
    },
};
use utterd_domain::{Refusal, Sequence, state::UpdateState};
use utterd_engine::{
    Caller, EngineError, LONG_TEXT_BYTES, MemorizeCall, MemorizePipeline, MemorizeReply, offload,
};

/// A decoded request, and the parts of it that its answer needs.
struct Asked {
    call: MemorizeCall,
    /// Everything after this sequence is removed.
    replace_after: Option<Sequence>,
    from: From,
}

/// The parts of a request that its answer needs.
#[derive(Default)]
struct From {
    session: Option<Box<str>>,
    /// For each utterance, the index of its message; empty if the request holds utterances.
    messages: Vec<usize>,
    /// Whether the answer contains the conversation.
    conversation: bool,
    /// Whether the answer omits the capacity and the change of the summary.
    lean: bool,
}

/// An outcome that is not responded to yet.
struct Held {
    reply: Result<MemorizeReply, EngineError>,
    from: From,
    /// Whether the response to a later request may answer this one too.
    combines: bool,
    /// How many requests of the stream it is the outcome of.
    count: i32,
}

impl Services {
    /// Responds to one request.
    pub(super) async fn memorize_one(
        &self,
        request: Request<proto::MemorizeRequest>,
    ) -> Result<proto::MemorizeResponse, Status> {
        let caller = self.caller(&request);
        let Asked { call, replace_after, from } = self.asked(request.into_inner()).await.or_status()?;
        let reply = match replace_after {
            Some(after) => self.engine.replace(&caller, call, after).await,
            None => self.engine.memorize(&caller, call).await,
        };
        let reply = reply.map_err(|error| of_messages(error, &from.messages)).or_status()?;
        self.memorized(reply, &from).await
    }

    /// Responds to a stream of requests. Once the server closes, reads no more requests, answers those it has
    /// read, and ends the stream with UNAVAILABLE.
    pub(super) fn memorize_all(
        &self,
        caller: Caller,
        messages: Streaming<proto::MemorizeStreamRequest>,
        pace: Option<Pace>,
    ) -> impl Stream<Item = Result<proto::MemorizeStreamResponse, Status>> + use<> {
        let conversation = Answering {
            services: self.clone(),
            pipeline: MemorizePipeline::new(self.engine.clone(), caller),
            asked: VecDeque::new(),
            held: VecDeque::new(),
            messages: UntilClosing::new(Paced::new(messages, pace), self.closing.clone()),
            ended: false,
            failure: None,
        };
        stream::unfold(conversation, |mut answering| async move {
            let response = answering.next().await?;
            Some((response, answering))
        })
    }

    async fn asked(&self, request: proto::MemorizeRequest) -> Result<Asked, Refusal> {
        let bytes = request.messages_json.len() + decode::said_bytes(&request.utterances);
        if bytes <= LONG_TEXT_BYTES {
            return self.read(request);
        }
        let services = self.clone();
        offload(true, move || services.read(request)).await
    }

    fn read(&self, mut request: proto::MemorizeRequest) -> Result<Asked, Refusal> {
        let session = decode::session(&request.session_id)?;
        let attempt = decode::attempt_of!("Memorize", request)?;
        let replace_after = request.replace_after.map(replace_after).transpose()?;
        let state = request.state.take().map(state::change).transpose();
        let own = request.recipient_state.take().map(state::change).transpose();
        let own = own.map_err(|refusal| refusal.within("recipient_state."))?;
        let (conversation, lean) = (request.return_conversation, request.lean);
        let Incoming { drafts, messages } = self.incoming(&mut request)?;
        let call = MemorizeCall {
            address: decode::address(&request.conversation_id, &request.recipient_id)?,
            attempt,
            expected: decode::revision(request.expected_revision)?,
            lenient: request.lenient,
            upsert: request.upsert,
            state: state.map_err(|refusal| refusal.within("state."))?,
            recipient_state: own.map(|change| Arc::new(UpdateState { change, expected: None })),
            drafts,
        };
        Ok(Asked { call, replace_after, from: From { session, messages, conversation, lean } })
    }

    async fn memorized(&self, reply: MemorizeReply, from: &From) -> Result<proto::MemorizeResponse, Status> {
        let conversation = if from.conversation { self.conversation_of(&reply).await? } else { None };
        let outcome = &reply.outcome;
        Ok(proto::MemorizeResponse {
            conversation_id: outcome.conversation.as_str().to_owned(),
            revision: encode::long(outcome.revision.get()),
            memorized: encode::refs(&outcome.memorized, outcome),
            evicted: encode::refs(&outcome.evicted, outcome),
            summary: if from.lean { None } else { encode::summary_update(&reply) },
            capacity: (!from.lean).then(|| self.capacity(&reply, from.session.as_deref())),
            started_conversation: outcome.started,
            replayed: reply.replayed(),
            removed: encode::refs(&outcome.forgotten, outcome),
            ended_conversation_id: outcome.ended.as_ref().map(ToString::to_string).unwrap_or_default(),
            in_forks: outcome.in_forks.map(encode::in_forks),
            irregularities: reply.value.into_iter().flatten().map(encode::irregularity).collect(),
            conversation,
        })
    }

    /// Returns the response to one request of a stream, or to several.
    async fn streamed(&self, held: Held) -> proto::MemorizeStreamResponse {
        let Held { reply, from, count, .. } = held;
        let response = match reply {
            Ok(reply) => self.memorized(reply, &from).await,
            Err(error) => Err(of_messages(error, &from.messages).into_status()),
        };
        let outcome = match response {
            Ok(response) => Outcome::Memorized(response),
            Err(status) => Outcome::Error(wire_status(&status)),
        };
        proto::MemorizeStreamResponse { result: Some(outcome), answered_count: count }
    }
}

/// Reads the last sequence that is kept.
fn replace_after(after: i64) -> Result<Sequence, Refusal> {
    let refuse = |_| Refusal::invalid("replace_after", format!("is {after}; accepted: 0 or more"));
    u64::try_from(after).map(Sequence).map_err(refuse)
}

/// A stream of requests that is being answered.
struct Answering {
    services: Services,
    pipeline: MemorizePipeline,
    /// For each request in the pipeline, the parts that its answer needs, and whether it combines with others.
    asked: VecDeque<(From, bool)>,
    /// At most two outcomes: a later one can still be combined with the last.
    held: VecDeque<Held>,
    messages: UntilClosing<Paced<Streaming<proto::MemorizeStreamRequest>>>,
    /// Whether there are no more messages.
    ended: bool,
    /// The error of a message that could not be read; it ends the stream, as its trailers.
    failure: Option<Status>,
}

impl Answering {
    /// Returns the next response. Reads all messages that have already arrived before it waits for an answer,
    /// so that they are written in one commit.
    async fn next(&mut self) -> Option<Result<proto::MemorizeStreamResponse, Status>> {
        loop {
            while self.pipeline.has_answer() && self.held.len() < 2 {
                self.hold().await;
            }
            if let Some(first) = self.held.pop_front() {
                return Some(Ok(self.services.streamed(first).await));
            }
            let (answers, reads) = (!self.pipeline.is_empty(), !self.ended && !self.pipeline.is_full());
            tokio::select! {
                biased;
                message = self.messages.next(), if reads => self.take(message).await,
                () = self.pipeline.ready(), if answers => self.hold().await,
                else => return self.failure.take().map(Err),
            }
        }
    }

    /// Takes the next outcome, and combines it with the one before if both requests ask so and were stored.
    async fn hold(&mut self) {
        let Some(reply) = self.pipeline.next().await else { return };
        let (from, combines) = self.asked.pop_front().unwrap_or_default();
        let last =
            self.held.back().filter(|last| combines && last.combines && reply.is_ok() && last.reply.is_ok());
        let count = last.map_or(1, |last| last.count + 1);
        if count > 1 {
            self.held.pop_back();
        }
        self.held.push_back(Held { reply, from, combines, count });
    }

    async fn take(&mut self, message: Option<Result<proto::MemorizeStreamRequest, Status>>) {
        match message {
            Some(Ok(message)) => {
                let missing = || Refusal::invalid("memorize", "is missing; accepted: a MemorizeRequest");
                let combines = message.combine_responses;
                let asked = match message.memorize.ok_or_else(missing) {
                    Ok(request) => self.services.asked(request).await,
                    Err(refusal) => Err(refusal),
                };
                let (call, from) = match asked {
                    Ok(Asked { replace_after: Some(_), .. }) => {
                        let text = "is accepted only with Memorize, and not in a stream";
                        (Err(Refusal::invalid("replace_after", text)), From::default())
                    }
                    Ok(Asked { call, from, .. }) => (Ok(call), from),
                    Err(refusal) => (Err(refusal), From::default()),
                };
                self.asked.push_back((from, combines));
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
}

/// Converts a status to a message, with its details.
fn wire_status(status: &Status) -> tonic_types::pb::Status {
    tonic_types::pb::Status::decode(status.details()).unwrap_or_else(|_| tonic_types::pb::Status {
        code: status.code().into(),
        message: status.message().to_owned(),
        details: Vec::new(),
    })
}
