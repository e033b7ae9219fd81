//! The layer that lets calls in.

use std::{convert::Infallible, future::ready, sync::Arc};

use http::{Request, Response};
use tonic::{Status, body::Body};

use super::{
    Guard, only_namespace,
    refusal::Refused,
    running::{self, Revoked, revoked},
    shown::Shown,
};
use crate::{guard::methods::Method, routes::Answer};
use utterd_engine::Caller;

/// Makes a call if its caller may: it then has a [`Principal`](super::Principal) and a [`Caller`] in its extensions. Without
/// a guard, everybody may, in the namespace `default`.
pub fn let_in(
    guard: Option<&Arc<Guard>>,
    mut request: Request<Body>,
    call: impl FnOnce(Request<Body>) -> Answer,
) -> Answer {
    match admit(guard, &mut request) {
        Ok(None) => call(request),
        Ok(Some(revoked)) => Box::pin(until(revoked, call(request))),
        Err(refused) => Box::pin(ready(Ok(Status::from(refused).into_http()))),
    }
}

/// Adds the caller to the extensions of `request`; returns the future that ends a long-lived call.
fn admit(guard: Option<&Arc<Guard>>, request: &mut Request<Body>) -> Result<Option<Revoked>, Refused> {
    let method = Method::of_request(request);
    let Some(guard) = guard else {
        only_namespace(request.headers())?;
        return Ok(None);
    };
    let Some(needed) = method.needed else { return Ok(None) };
    let shown = Shown::with(request);
    let (principal, credential) = guard.admit(request, &shown, needed)?;
    let revoked = method.is_stream().then(|| revoked(guard.clone(), shown, credential));
    request.extensions_mut().insert(Caller { namespace: principal.namespace.clone() });
    request.extensions_mut().insert(principal);
    Ok(revoked)
}

/// Makes a call that ends when its credential is `revoked`.
async fn until(mut revoked: Revoked, call: Answer) -> Result<Response<Body>, Infallible> {
    tokio::select! {
        biased;
        refused = revoked.as_mut() => Ok(Status::from(refused).into_http()),
        response = call => Ok(response?.map(|body| running::until(revoked, body))),
    }
}
