//! Plain HTTP/1, for the listeners other than gRPC's.

mod host;
mod listener;
mod read;

use std::convert::Infallible;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use tonic::Code;

pub use listener::{Bound, keep, serve};
pub use read::{Room, Unread};

/// The type of a text for people.
pub const PLAIN: &str = "text/plain; charset=utf-8";

/// The body of an answer.
pub type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// An answer.
pub type Answer = Response<AnswerBody>;

/// An answer with a text.
pub fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Whether the body of a request is of this type.
pub fn is_of_type(headers: &HeaderMap, expected: &str) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(expected))
}

/// The answer to a request with a method other than those `allowed`; `told` says which are accepted.
pub fn not_allowed(allowed: &'static str, told: &'static str) -> Answer {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, PLAIN, told);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// The status of HTTP that `google.rpc.Code` names for a code.
pub fn status_of(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Cancelled | Code::Unknown | Code::Internal | Code::DataLoss => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}
