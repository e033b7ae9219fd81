//! Which callers are admitted over HTTP: those that the gRPC server accepts.

use http::{HeaderMap, HeaderValue, StatusCode, header::WWW_AUTHENTICATE};
use tonic::Code;

use super::memory::Memory;
use crate::{access::Identity, errors::refusal};
use utterd_rpc::proto::CountTokensRequest;
use utterd_server::plain_http::{Answer, PLAIN, text};

/// The server as the caller with these headers sees it; or the response to a caller that the server refuses.
pub async fn admit(memory: &Memory, headers: &HeaderMap) -> Result<Memory, Answer> {
    let identity = Identity::shown_in(headers)
        .ok_or_else(|| refused(StatusCode::UNAUTHORIZED, "the credential is not a single token".into()))?;
    let memory = memory.of(identity);
    // a call that requires credentials and reveals nothing
    let request = CountTokensRequest { texts: vec![String::new()], ..Default::default() };
    let Err(status) = memory.server.contexts().count_tokens(request).await else { return Ok(memory) };
    match status.code() {
        Code::Unauthenticated => Err(refused(StatusCode::UNAUTHORIZED, refusal(&status))),
        Code::PermissionDenied => Err(refused(StatusCode::FORBIDDEN, refusal(&status))),
        // anything else that is wrong will show in the answers to the caller's calls
        _ => Ok(memory),
    }
}

/// The response to a refused request, which says why.
pub fn refused(code: StatusCode, told: String) -> Answer {
    let mut response = text(code, PLAIN, told + "\n");
    if code == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
