//! Which callers are admitted over HTTP: those that the gRPC server accepts.

use std::convert::Infallible;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, WWW_AUTHENTICATE},
};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use tonic::Code;

use super::memory::Memory;
use crate::{
    cli::{access::Identity, errors::refusal},
    proto::CountTokensRequest,
};

/// An HTTP response.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The server as the caller with these headers sees it; or the response to a caller that the server refuses.
pub async fn admit(memory: &Memory, headers: &HeaderMap) -> Result<Memory, Answer> {
    let identity = Identity::shown_in(headers)
        .ok_or_else(|| refused(StatusCode::UNAUTHORIZED, "the credential is not a single token".into()))?;
    let memory = memory.of(identity);
    // a call that requires credentials and reveals nothing
    let request = CountTokensRequest { texts: vec![String::new()], ..Default::default() };
    let Err(status) = memory.server().contexts().count_tokens(request).await else { return Ok(memory) };
    match status.code() {
        Code::Unauthenticated => Err(refused(StatusCode::UNAUTHORIZED, refusal(&status))),
        Code::PermissionDenied => Err(refused(StatusCode::FORBIDDEN, refusal(&status))),
        // anything else that is wrong will show in the answers to the caller's calls
        _ => Ok(memory),
    }
}

/// The response to a refused request, which says why.
pub fn refused(code: StatusCode, text: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(text + "\n")).boxed());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if code == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
