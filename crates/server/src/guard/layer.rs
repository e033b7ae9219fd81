//! The layer that lets calls in.

use std::{
    future::ready,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use tonic::{Status, body::Body};
use tower::Service;

use super::{
    Guard, only_namespace,
    refusal::Refused,
    running::{Revocable, Revoked, revoked},
    shown::Shown,
};
use crate::guard::{access::Access, methods::Method};
use utterd_engine::Caller;

/// Lets calls in to a service: an admitted call has a [`Principal`](super::Principal) and a [`Caller`] in its
/// extensions.
#[derive(Clone)]
pub struct Guarded<S> {
    pub inner: S,
    /// Decides whom to admit; without it, everybody is admitted, in the namespace `default`.
    pub guard: Option<Arc<Guard>>,
}

impl<S> Guarded<S> {
    /// Adds the caller to the extensions of `request`; returns the future that ends a long-lived call.
    fn admit(&self, request: &mut Request<Body>) -> Result<Option<Revoked>, Refused> {
        let method = Method::of_request(request);
        let Some(guard) = &self.guard else {
            only_namespace(request.headers())?;
            return Ok(None);
        };
        if method.access == Access::Open {
            return Ok(None);
        }
        let shown = Shown::with(request);
        let admitted = guard.admit(request, &shown, method.access)?;
        let revoked = method.is_stream().then(|| revoked(guard.clone(), shown, admitted.credential));
        request.extensions_mut().insert(Caller { namespace: admitted.principal.namespace.clone() });
        request.extensions_mut().insert(admitted.principal);
        Ok(revoked)
    }
}

type Called<E> = BoxFuture<'static, Result<Response<Body>, E>>;

impl<S, E> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = E, Future = Called<E>>,
    E: Send + 'static,
{
    type Response = Response<Body>;
    type Error = E;
    type Future = Called<E>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match self.admit(&mut request) {
            Ok(None) => self.inner.call(request),
            Ok(Some(revoked)) => Box::pin(until(revoked, self.inner.call(request))),
            Err(refused) => Box::pin(ready(Ok(Status::from(refused).into_http()))),
        }
    }
}

/// Makes a call that ends when its credential is `revoked`.
async fn until<E>(
    mut revoked: Revoked,
    call: impl Future<Output = Result<Response<Body>, E>>,
) -> Result<Response<Body>, E> {
    tokio::select! {
        biased;
        refused = revoked.as_mut() => Ok(Status::from(refused).into_http()),
        response = call => Ok(response?.map(|body| Body::new(Revocable::new(body, revoked)))),
    }
}
