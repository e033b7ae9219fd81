//! The layer that lets calls in.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use tonic::{Status, body::Body};
use tower::{Layer, Service};

use super::{Guard, Principal, only_namespace, refusal::Refused};
use crate::{
    engine::Caller,
    server::methods::{Access, access},
};

/// Wraps services in [`Guarded`].
#[derive(Clone)]
pub struct GuardLayer {
    guard: Option<Arc<Guard>>,
}

impl GuardLayer {
    /// A layer that lets in whom `guard` does; everybody, in the namespace `default`, when there is none.
    pub fn new(guard: Option<Arc<Guard>>) -> Self {
        Self { guard }
    }
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Guarded { inner, guard: self.guard.clone() }
    }
}

/// The layer's service: a call that is let in has a [`Principal`] and a [`Caller`] in its extensions.
#[derive(Clone)]
pub struct Guarded<S> {
    inner: S,
    guard: Option<Arc<Guard>>,
}

impl<S> Guarded<S> {
    /// Who calls; `None` where nobody asks.
    fn admit(&self, request: &Request<Body>) -> Result<Option<Principal>, Refused> {
        let Some(guard) = &self.guard else { return only_namespace(request.headers()).map(|()| None) };
        match access(request.uri().path()) {
            Access::Open => Ok(None),
            access => guard.admit(request, access).map(Some),
        }
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
        match self.admit(&request) {
            Ok(None) => GuardedFuture::Admitted(Box::pin(self.inner.call(request))),
            Ok(Some(principal)) => {
                request.extensions_mut().insert(Caller { namespace: principal.namespace.clone() });
                request.extensions_mut().insert(principal);
                GuardedFuture::Admitted(Box::pin(self.inner.call(request)))
            }
            Err(refused) => GuardedFuture::Refused(Some(refused)),
        }
    }
}

/// The response in the making.
pub enum GuardedFuture<F> {
    /// Of a call that was let in.
    Admitted(Pin<Box<F>>),
    /// Of one that was not.
    Refused(Option<Refused>),
}

impl<F, E> Future for GuardedFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Admitted(call) => Poll::Ready(ready!(call.as_mut().poll(context))),
            Self::Refused(refused) => match refused.take() {
                Some(refused) => Poll::Ready(Ok(Status::from(refused).into_http())),
                None => Poll::Pending,
            },
        }
    }
}
