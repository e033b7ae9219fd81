//! One call of the page: JSON in, the call of the server, JSON out.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures::stream::{self, Stream};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE, uri::PathAndQuery};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use tonic::{Code, Status, Streaming, client::Grpc};

use super::{failure::Failure, frames};
use crate::{
    dynamic::{self, Dynamic},
    guard::methods::Method,
    plain_http as plain,
    plain_http::{Answer, Carried, Held, Room},
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

/// Answers the call that `request` stands for.
pub async fn answer(
    request: Request<Incoming>,
    service: Stack,
    carried: &Carried,
    room: &Room,
    most: usize,
) -> Answer {
    let Some(method) = method(request.uri().path()) else {
        let status = Status::unimplemented("there is no such call; accepted: /utterd.v1.SERVICE/METHOD");
        return refuse(StatusCode::NOT_FOUND, &status);
    };
    let is_stream = method.is_client_streaming() || method.is_server_streaming();
    let expected = if is_stream { STREAM } else { UNARY };
    if !is_of_type(request.headers(), expected) {
        let status = Status::invalid_argument(format!("content-type: accepted for this call: {expected}"));
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &status);
    }
    let call = Call { method, service, carried, timeout: timeout(request.headers()) };
    // In a stream, each message has the limit, and bytes are in base64, which is a third longer.
    let most = if is_stream { most.saturating_mul(2) } else { most };
    let access = Method::of(request.uri().path()).access;
    let body = match room.read(request, access, most).await {
        Ok(body) => body,
        Err(error) if is_stream => return ended(error.into()),
        Err(error) => return refuse(error.code(), &error.into()),
    };
    match is_stream {
        true => call.streamed(body).await,
        false => call.answered(body).await.unwrap_or_else(|status| Failure::answer(&status)),
    }
}

/// The answer to a stream that ends before it begins.
fn ended(status: Status) -> Answer {
    plain::text(StatusCode::OK, STREAM, frames::end(Err(status)))
}

fn refuse(code: StatusCode, status: &Status) -> Answer {
    let mut answer = Failure::answer(status);
    *answer.status_mut() = code;
    answer
}

/// The method with the path `/package.Service/Method`.
fn method(path: &str) -> Option<MethodDescriptor> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let service = proto::descriptors()?.get_service_by_name(service)?;
    service.methods().find(|it| it.name() == method)
}

fn is_of_type(headers: &HeaderMap, expected: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = headers.get(TIMEOUT)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds))
}

/// A call that is to be made.
struct Call<'a> {
    method: MethodDescriptor,
    service: Stack,
    carried: &'a Carried,
    timeout: Option<Duration>,
}

impl Call<'_> {
    /// Makes a call with one request and one response. Its message takes room again, so the room of the body is
    /// released.
    async fn answered(self, body: Held) -> Result<Answer, Status> {
        let (input, is_long) = (self.method.input(), body.len() > LONG_TEXT_BYTES);
        let request = self.request(offload(is_long, move || read(input, &body)).await?);
        let (path, codec) = (self.path()?, Dynamic(self.method.output()));
        let mut grpc = ready(self.service).await?;
        let response = grpc.unary(request, path, codec).await?.into_inner();
        let is_long = response.encoded_len() > LONG_TEXT_BYTES;
        let json = offload(is_long, move || serde_json::to_vec(&response)).await;
        let json = json.map_err(|error| Status::internal(error.to_string()))?;
        Ok(plain::text(StatusCode::OK, UNARY, json))
    }

    /// Makes a call with a stream in either direction. An error is sent in the last frame.
    async fn streamed(self, body: Held) -> Answer {
        match self.begun(body).await {
            Ok(messages) => {
                let mut answer = Response::new(StreamBody::new(told(messages)).boxed_unsync());
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(STREAM));
                answer
            }
            Err(status) => ended(status),
        }
    }

    async fn begun(self, body: Held) -> Result<Streaming<DynamicMessage>, Status> {
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
        let request = self.request(stream::iter(messages));
        let (path, codec) = (self.path()?, Dynamic(self.method.output()));
        let mut grpc = ready(self.service).await?;
        Ok(grpc.streaming(request, path, codec).await?.into_inner())
    }

    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = self.carried.call(message);
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        request
    }

    fn path(&self) -> Result<PathAndQuery, Status> {
        dynamic::path(&self.method).map_err(|_| Status::internal("the name of a method is no path"))
    }
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
