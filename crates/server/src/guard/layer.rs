//! The layer that lets calls in.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tonic::{Status, body::Body};
use tower::Service;

use super::{
    Guard, only_namespace,
    refusal::Refused,
    running::{Revocable, Revoked, revoked},
    shown::Shown,
    strangers::Strangers,
};
use crate::{
    guard::{
        access::Access,
        methods::{Method, Origin},
    },
    messages::Call,
    transport::connection::Peer,
};
use utterd_engine::Caller;

/// Lets calls in to a service: an admitted call has a [`Principal`](super::Principal) and a [`Caller`] in its
/// extensions.
#[derive(Clone)]
pub struct Guarded<S> {
    pub inner: S,
    /// Decides whom to admit; without it, everybody is admitted, in the namespace `default`.
    pub guard: Option<Arc<Guard>>,
    /// Count the calls that need no credential.
    pub strangers: Arc<Strangers>,
}

impl<S> Guarded<S> {
    /// Adds the caller to the extensions of `request`; returns the future that ends a long-lived call, or one that
    /// needs no credential.
    fn admit(&self, request: &mut Request<Body>) -> Result<Option<Revoked>, Refused> {
        let method = Method::of(request.uri().path());
        let Some(guard) = &self.guard else {
            only_namespace(request.headers())?;
            return Ok((method.origin == Origin::Grpc).then(|| self.of_stranger(request)));
        };
        if method.access == Access::Open {
            return Ok(Some(self.of_stranger(request)));
        }
        let shown = Shown::with(request);
        let admitted = guard.admit(request, &shown, method.access)?;
        let revoked = method.is_stream().then(|| revoked(guard.clone(), shown, admitted.credential));
        request.extensions_mut().insert(Caller { namespace: admitted.principal.namespace.clone() });
        request.extensions_mut().insert(admitted.principal);
        Ok(revoked)
    }

    fn of_stranger(&self, request: &Request<Body>) -> Revoked {
        let connection = request.extensions().get::<Peer>().map_or(0, |peer| peer.connection);
        self.strangers.admit(connection, Call::of(request.uri().path()).bytes())
    }
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = GuardedFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match self.admit(&mut request) {
            Ok(revoked) => GuardedFuture::Admitted { call: self.inner.call(request), revoked },
            Err(refused) => GuardedFuture::Refused { refused: Some(refused) },
        }
    }
}

pin_project! {
    /// The pending response.
    #[project = Projected]
    pub enum GuardedFuture<F> {
        /// The call was admitted.
        Admitted {
            #[pin]
            call: F,
            // ends the call before it ends by itself
            revoked: Option<Revoked>,
        },
        /// The call was refused; `None` once it was answered.
        Refused { refused: Option<Refused> },
    }
}

impl<F, E> Future for GuardedFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Admitted { call, revoked } => {
                if let Some(Poll::Ready(refused)) = revoked.as_mut().map(|it| it.as_mut().poll(context)) {
                    return Poll::Ready(Ok(Status::from(refused).into_http()));
                }
                let response = ready!(call.poll(context));
                Poll::Ready(response.map(|response| match revoked.take() {
                    Some(revoked) => response.map(|body| Body::new(Revocable::new(body, revoked))),
                    None => response,
                }))
            }
            Projected::Refused { refused } => match refused.take() {
                Some(refused) => Poll::Ready(Ok(Status::from(refused).into_http())),
                None => Poll::Pending,
            },
        }
    }
}
