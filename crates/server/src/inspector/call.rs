//! One call of the page: JSON in, the call of the server, JSON out.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures::stream::{self, Stream};
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
    uri::PathAndQuery,
};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use tonic::{Code, Status, Streaming, client::Grpc, metadata::MetadataMap};

use super::{failure, frames};
use crate::{
    calls::REQUEST_ID,
    dynamic::{self, Dynamic},
    guard::methods::Method,
    plain_http as plain,
    plain_http::{Answer, Room, Unread},
    stack::Stack,
};
use utterd_domain::limits::INSPECTOR_MESSAGE_BYTES;
use utterd_engine::{LONG_TEXT_BYTES, offload};
use utterd_rpc::{proto, transport_error};

/// The type of a call with one request and one response.
const UNARY: &str = "application/json";
/// The type of a call with a stream in either direction.
const STREAM: &str = "application/connect+json";
/// The milliseconds within which the caller wants an answer.
const TIMEOUT: &str = "connect-timeout-ms";
/// The headers that are passed on to the call as they are.
const PASSED: [HeaderName; 5] = [
    AUTHORIZATION,
    HeaderName::from_static("utterd-namespace"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    REQUEST_ID,
];

/// Answers the call that `request` stands for.
pub async fn answer(request: Request<Incoming>, service: Stack, room: &Room, most: usize) -> Answer {
    let Some(method) = method(request.uri().path()) else {
        let status = Status::unimplemented("there is no such call; accepted: /utterd.v1.SERVICE/METHOD");
        return refuse(StatusCode::NOT_FOUND, &status);
    };
    let is_stream = method.is_client_streaming() || method.is_server_streaming();
    let expected = if is_stream { STREAM } else { UNARY };
    if !plain::is_of_type(request.headers(), expected) {
        let status = Status::invalid_argument(format!("content-type: accepted for this call: {expected}"));
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &status);
    }
    let call = Call { method, service, like: like(&request) };
    // In a stream, each message has the limit, and bytes are in base64, which is a third longer.
    let most = if is_stream { most.saturating_mul(2) } else { most };
    let needed = Method::of(request.uri().path()).needed;
    let body = match room.read(request, needed, most).await {
        Ok(body) => body,
        Err(Unread(_, status)) if is_stream => return ended(*status),
        Err(Unread(code, status)) => return refuse(code, &status),
    };
    match is_stream {
        true => call.streamed(body).await,
        false => call.answered(body).await.unwrap_or_else(|status| failure::answer(&status)),
    }
}

/// The answer to a stream that ends before it begins.
fn ended(status: Status) -> Answer {
    plain::text(StatusCode::OK, STREAM, frames::end(Err(status)))
}

fn refuse(code: StatusCode, status: &Status) -> Answer {
    let mut answer = failure::answer(status);
    *answer.status_mut() = code;
    answer
}

/// The method with the path `/package.Service/Method`.
fn method(path: &str) -> Option<MethodDescriptor> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let service = proto::descriptors()?.get_service_by_name(service)?;
    service.methods().find(|it| it.name() == method)
}

/// What the call that `request` stands for has besides its messages: the caller's credential, trace and patience, the
/// id for the log, and the connection and the client at its other end.
fn like<B>(request: &Request<B>) -> tonic::Request<()> {
    let (headers, mut passed) = (request.headers(), HeaderMap::new());
    for name in PASSED {
        for value in headers.get_all(&name) {
            passed.append(&name, value.clone());
        }
    }
    let metadata = MetadataMap::from_headers(passed);
    let mut like = tonic::Request::from_parts(metadata, request.extensions().clone(), ());
    if let Some(milliseconds) = headers.get(TIMEOUT).and_then(|given| given.to_str().ok()?.parse().ok()) {
        like.set_timeout(Duration::from_millis(milliseconds));
    }
    like
}

/// A call that is to be made.
struct Call {
    method: MethodDescriptor,
    service: Stack,
    /// What its request has besides messages.
    like: tonic::Request<()>,
}

impl Call {
    /// Makes a call with one request and one response. Its message takes room again, so the room of the body is
    /// released.
    async fn answered(self, body: Bytes) -> Result<Answer, Status> {
        let (input, is_long) = (self.method.input(), body.len() > LONG_TEXT_BYTES);
        let message = offload(is_long, move || read(input, &body)).await?;
        let request = self.like.map(|()| message);
        let (path, codec) = (path(&self.method)?, Dynamic(self.method.output()));
        let mut grpc = ready(self.service).await?;
        let response = grpc.unary(request, path, codec).await?.into_inner();
        let is_long = response.encoded_len() > LONG_TEXT_BYTES;
        let json = offload(is_long, move || serde_json::to_vec(&response)).await;
        let json = json.map_err(|error| Status::internal(error.to_string()))?;
        Ok(plain::text(StatusCode::OK, UNARY, json))
    }

    /// Makes a call with a stream in either direction. An error is sent in the last frame.
    async fn streamed(self, body: Bytes) -> Answer {
        match self.begun(body).await {
            Ok(messages) => {
                let mut answer = Response::new(StreamBody::new(told(messages)).boxed_unsync());
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(STREAM));
                answer
            }
            Err(status) => ended(status),
        }
    }

    async fn begun(self, body: Bytes) -> Result<Streaming<DynamicMessage>, Status> {
        let frames = frames::split(&body)?;
        if frames.len() != 1 && !self.method.is_client_streaming() {
            return Err(Status::invalid_argument(format!(
                "the request has {} messages; accepted: one",
                frames.len()
            )));
        }
        let messages = frames.into_iter().map(|frame| read(self.method.input(), frame));
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        drop(body);
        let request = self.like.map(|()| stream::iter(messages));
        let (path, codec) = (path(&self.method)?, Dynamic(self.method.output()));
        let mut grpc = ready(self.service).await?;
        Ok(grpc.streaming(request, path, codec).await?.into_inner())
    }
}

fn path(method: &MethodDescriptor) -> Result<PathAndQuery, Status> {
    dynamic::path(method).map_err(|_| Status::internal("the name of a method is no path"))
}

async fn ready(service: Stack) -> Result<Grpc<Stack>, Status> {
    let mut grpc = Grpc::new(service).max_decoding_message_size(INSPECTOR_MESSAGE_BYTES);
    let Ok(()) = grpc.ready().await;
    Ok(grpc)
}

fn read(descriptor: MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, Status> {
    let name = descriptor.name().to_owned();
    let refused = |error: serde_json::Error| {
        let text = format!("the request is no {name}: {error}");
        transport_error(Code::InvalidArgument, "INVALID_MESSAGE", text)
    };
    let mut reader = serde_json::Deserializer::from_slice(json);
    let message = DynamicMessage::deserialize(descriptor, &mut reader).map_err(refused)?;
    reader.end().map_err(refused)?;
    Ok(message)
}

/// The frames of an answer: its messages, and how it ended.
fn told(messages: Streaming<DynamicMessage>) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    stream::unfold(Some(messages), async |messages| {
        let mut messages = messages?;
        let next = messages.message().await;
        let framed = match next {
            Ok(Some(message)) => frames::message(&message).map(Some),
            Ok(None) => Ok(None),
            Err(status) => Err(status),
        };
        let (frame, rest) = match framed {
            Ok(Some(frame)) => (frame, Some(messages)),
            Ok(None) => (frames::end(Ok(())), None),
            Err(status) => (frames::end(Err(status)), None),
        };
        Some((Ok(Frame::data(frame)), rest))
    })
}
